"""The workloads of PyTorch's test/profiler/test_profiler_tree.py, by the names of its tests, each three times as there: what torch.profiler's event tree is, as text.

    memoir run -o CAPTURE -- python profiler_tree_programs.py OUT.json cpu|cuda [calls]

Blocks are numbered as in profiled_blocks.py. A block has the text of ProfilerTree.format, and, where Python calls are in it, the same without them and without annotations, with
and without calls of modules. With `calls` those alone run that have Python calls, as PyTorch's test runs them: there a block's range is around all of the test.
"""

import contextlib
import gc
import json
import re
import sys

import torch
from torch._C._profiler import RecordScope, _EventType
from torch.utils import _pytree as pytree

RANGE = "profiler tree"
REPLICATES = 3
BLOCKS = []
CALLS = len(sys.argv) > 3
PROFILERS = []   # classes of a test with `calls`, and their arguments
PRUNED = {
    "torch/utils/_pytree.py(...): tree_map": "name",
    "torch/profiler/profiler.py(...): start": "ellipses",
    "torch/profiler/profiler.py(...): stop_trace": "ellipses",
    "torch/profiler/profiler.py(...): _transit_action": "ellipses",
    "<built-in method __exit__ of torch._C.DisableTorchFunctionSubclass object at 0xXXXXXXXXXXXX>": "nothing",
    "cudaStreamIsCapturing": "nothing",
    "cudaGetDeviceCount": "nothing",
    "cudaGetDeviceProperties_v2": "nothing",
}
KERNELS = ["void at::native::elementwise_kernel", "void at::native::reduce_kernel", "void at::native::vectorized_elementwise_kernel",
           "void at::native::unrolled_elementwise_kernel", r"void [a-zA-Z0-9]+_kernel"]


def shown_name(name):
    python = re.match(r"^(.*)\.py\(([0-9]+)\): (.*)$", name)
    if python:
        return f"{python.group(1)}.py(...): {python.group(3)}"
    for kernel in KERNELS:
        name = re.sub(rf"{kernel}<.+>\(.+\)$", f"{kernel.replace('[a-zA-Z0-9]+', '...')}<...>(...)", name)
    return re.sub("object at 0x[0-9a-fA-F]+>", "object at 0xXXXXXXXXXXXX>", name)


def is_python(node):
    return node.tag in (_EventType.PyCall, _EventType.PyCCall)


def is_module(node):
    return is_python(node) and node.name.startswith("nn.Module: ")


def is_annotation(node):
    return node.tag == _EventType.TorchOp and node.typed[1].scope == RecordScope.USER_SCOPE


def every(nodes):
    for node in nodes:
        yield node
        yield from every(node.children)


def everything(node):
    return True


def flat(nodes, keep, depth=0):
    """(depth, name) of the nodes to keep; the children of other nodes take their places. RANGE marks the block for Memoir, and torch.profiler does not see it.
    """
    for node in nodes:
        name = shown_name(node.name)
        pruned = PRUNED.get(name.strip()) if keep is everything else None
        if not keep(node) or name == RANGE:
            yield from flat(node.children, keep, depth)
        elif pruned is None:
            yield depth, name
            yield from flat(node.children, keep, depth + 1)
        elif pruned == "name":
            yield depth, name
            yield from [(depth + 1, "...")] * bool(node.children)
        elif pruned == "ellipses":
            yield depth, "..."


def text(profiler, keep=everything):
    nodes = list(flat(profiler.profiler.kineto_results.experimental_event_tree(), keep))
    least = min((depth + 1 for depth, name in nodes if "begin_unit_test_marker" in name), default=0)
    return "".join(f"{'  ' * (depth - least)}{name.rstrip()}\n" for depth, name in nodes if depth >= least)


def profile(test, **options):
    gc.collect()
    if "_cuda" in test:   # on the simulated GPU there is nothing for CUPTI to see
        options["activities"] = [torch.profiler.ProfilerActivity.CPU]
    if not CALLS:
        return marked(test, options)
    PROFILERS.append((torch.profiler.profile(**options), options))
    return PROFILERS[-1][0]


def begin_unit_test_marker(test, name):
    test(name)


def run_with_calls(name, test):
    with torch.profiler.record_function(RANGE):
        begin_unit_test_marker(test, name)
    profiler, options = PROFILERS.pop()
    BLOCKS.append({"test": name, "number": len(BLOCKS), "memory": options.get("profile_memory", False), "text": text(profiler)})


@contextlib.contextmanager
def marked(test, options):
    with torch.profiler.profile(**options) as profiler:
        with torch.profiler.record_function(RANGE):
            yield
    block = {"test": test, "number": len(BLOCKS), "memory": options.get("profile_memory", False), "python": options.get("with_stack", False), "text": text(profiler)}
    if block["python"]:   # torch.profiler then ends each annotation with the Python call that began it; its children become its siblings
        block["annotations"] = sorted({node.name for node in every(profiler.profiler.kineto_results.experimental_event_tree()) if is_annotation(node)} - {RANGE})
        block["ranges"] = text(profiler, lambda node: not is_python(node) and not is_annotation(node))
        block["modules"] = text(profiler, lambda node: is_module(node) or (not is_python(node) and not is_annotation(node)))
    BLOCKS.append(block)


class TorchFunctionTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs)


class TorchDispatchTensor(torch.Tensor):
    @staticmethod
    def __new__(cls, elem):
        tensor = torch.Tensor._make_subclass(cls, elem, elem.requires_grad)
        tensor.elem = elem
        return tensor

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def inner(x):
            return x.elem if isinstance(x, TorchDispatchTensor) else x

        def outer(x):
            return TorchDispatchTensor(x) if isinstance(x, torch.Tensor) else x

        return pytree.tree_map(outer, func(*pytree.tree_map(inner, args), **pytree.tree_map(inner, kwargs or {})))


def loss_of_ones(test, power=None, **options):
    t1, t2 = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    with profile(test, **options):
        z = torch.add(t1, t2)
        y = torch.ones(1)
        loss = (y - z) ** 2 if power is None else power(y - z, 2)
        loss.backward()


def test_profiler_experimental_tree(test):
    loss_of_ones(test)


def test_profiler_experimental_tree_with_record_function(test):
    record_function = torch.autograd.profiler.record_function
    with profile(test):
        with record_function("Top level Annotation"):
            with record_function("First Annotation"):
                x = torch.ones((1,), requires_grad=True)
            _ = record_function("Second Annotation").__enter__()   # and is never left
            y = x + 1
            with record_function("Third Annotation"):
                y.backward()


def test_profiler_experimental_tree_with_memory(test):
    loss_of_ones(test, profile_memory=True)


def test_profiler_experimental_tree_with_memory_and_stack(test):
    loss_of_ones(test, power=torch.pow, profile_memory=True, with_stack=True)


class LayersInAList(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.ReLU(), torch.nn.Linear(1, 1), torch.nn.ReLU()]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_profiler_experimental_tree_with_stack_and_modules(test):
    model = LayersInAList()
    with profile(test, with_stack=True):
        for _ in range(2):
            model(torch.ones((1,)))


def test_profiler_experimental_tree_with_stack_and_torch_function(test):
    x, y = TorchFunctionTensor(torch.ones((1,))), torch.ones((1,))
    torch.add(x, y)   # what is made the first time only
    with profile(test, with_stack=True):
        torch.add(x, y)


def test_profiler_experimental_tree_with_stack_and_torch_dispatch(test):
    x, y = TorchDispatchTensor(torch.ones((1,))), torch.ones((1,))
    x + y
    with profile(test, with_stack=True):
        x + y


def test_profiler_experimental_tree_cuda(test):
    with profile(test, profile_memory=True):
        weight = torch.ones(1, device="cuda", requires_grad=True)
        x = torch.ones(1, device="cuda")
        y = torch.add(weight, x)
        loss = torch.pow(y, 2)
        loss.backward()
        torch.optim.SGD([weight], lr=0.01, momentum=0.9).step()


def test_profiler_experimental_tree_cuda_with_stream(test):
    streams, results = [torch.cuda.Stream() for _ in range(3)], []
    with profile(test, profile_memory=True):
        x = torch.ones((4, 4), device="cuda")
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(torch.tanh(x) - x)
    del results
    for stream in streams:
        torch.cuda.current_stream().wait_stream(stream)


def test_profiler_experimental_tree_cuda_detailed(test):
    model = torch.nn.modules.Linear(1, 1, device="cuda")
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step():
        x = torch.ones((1, 1), device="cuda")
        loss = model(x)
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step()
    with profile(test, profile_memory=True, with_stack=True):
        step()


def main():
    on_gpu = sys.argv[2] == "cuda"
    for name, test in list(globals().items()):
        if not name.startswith("test_") or ("_cuda" in name) != on_gpu or (CALLS and not ("stack" in name or "detailed" in name)):
            continue
        for _ in range(REPLICATES):
            run_with_calls(name, test) if CALLS else test(name)
    json.dump(BLOCKS, open(sys.argv[1], "w"))


if __name__ == "__main__":
    main()
