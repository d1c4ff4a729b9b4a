"""The programs of test_dispatch.py: dispatch_programs.py [--seen FILE] [--library FILE]

Runs each program once, one after the other, between two marks of its name, and prints a JSON object: per program a hash of its results' bytes.
With --seen, a TorchDispatchMode is active inside each, and its operators are written to FILE: per program, per thread, [operator, storage bytes of results,
shown to the mode, called on a tensor subclass] in order. Not in the list: the detach of each new nn.Parameter, during which torch disables all modes.
`subclasses_are_opaque`: the key of Memoir's fallback comes before Python's in this torch.
"""

import argparse
import contextlib
import hashlib
import json
import pathlib
import sys
import threading

import torch
import torch._dynamo  # some programs import it, and it would find what Seen replaces
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from wrapper_tensor import Wrapper


class Seen(TorchDispatchMode):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def __enter__(self):
        self.make_subclass = torch.Tensor._make_subclass
        torch.Tensor._make_subclass = self.note_hidden_detach
        return super().__enter__()

    def __exit__(self, *failure):
        torch.Tensor._make_subclass = self.make_subclass
        return super().__exit__(*failure)

    def note_hidden_detach(self, *arguments, **options):
        made = self.make_subclass(*arguments, **options)
        self.rows.append(["aten::detach", [storage_bytes(made)], False, False])
        return made

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        schema = function._schema
        row = [schema.name + ("." + schema.overload_name if schema.overload_name else ""), None, True, any(kind is not torch.Tensor for kind in types)]
        self.rows.append(row)
        result = function(*args, **(kwargs or {}))
        row[1] = [storage_bytes(leaf) for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        return result


def storage_bytes(tensor):
    try:
        return tensor.untyped_storage().nbytes()
    except NotImplementedError:  # sparse: it has no storage
        return 0


class Watch:
    """The lists of the modes; `here()` is one for the calling thread, or None without --seen."""

    def __init__(self, wanted):
        self.wanted, self.threads = wanted, []

    def here(self):
        if not self.wanted:
            return contextlib.nullcontext()
        self.threads.append([])
        return Seen(self.threads[-1])


# Each program takes a Watch and returns tensors.
def transformer(watch):
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 4, 16)).pow(2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return [loss, *model.parameters()]


def checkpoint(watch):
    from torch.utils.checkpoint import checkpoint as recompute

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Tanh())
    x = torch.randn(3, 8, requires_grad=True)
    recompute(model, x, use_reentrant=False).sum().backward()
    recompute(model, x, use_reentrant=True).sum().backward()
    return [x.grad, *(p.grad for p in model.parameters())]


def lstm(watch):
    model = torch.nn.LSTM(4, 6, num_layers=2, bidirectional=True)
    output, (h, c) = model(torch.randn(5, 3, 4))
    (output.sum() + h.sum() + c.sum()).backward()
    return [output, *(p.grad for p in model.parameters())]


def autocast(watch):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(2, 3, 8, 8)).float().square().mean()
    loss.backward()
    return [loss, *(p.grad for p in model.parameters()), *model.buffers()]


def indexing(watch):
    a, b = torch.randn(3, 4, 5, requires_grad=True), torch.randn(3, 5, 2)
    c = torch.einsum("bij,bjk->bik", a, b)
    d = c[[0, 2], :, 1] + c[torch.tensor([1, 1])][:, :, 0].masked_fill(torch.tensor([True, False, True, False]), 0.5)
    e = torch.zeros(6).index_put_((torch.tensor([1, 3]),), d.sum(1))
    e[2:4] += 1
    f = c.permute(2, 0, 1).reshape(2, -1)[:, ::2].gather(1, torch.tensor([[0, 2], [1, 3]]))
    (e.sum() + f.sum() + torch.tensordot(a, b, dims=([0, 2], [0, 1])).sum()).backward()
    return [c, e, f, a.grad, torch.where(d > 0)[0]]


def inference_mode(watch):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.LayerNorm(8)).eval()
    with torch.inference_mode():
        x = model(torch.randn(4, 8)).softmax(-1)
        return [x.clone().add_(1), x.reshape(2, 16).T @ x.reshape(2, 16)]


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * 3 * x * x


def python_function(watch):
    x = torch.randn(5, requires_grad=True)
    (first,) = torch.autograd.grad(Cube.apply(x.sin()).sum(), x, create_graph=True)
    first.square().sum().backward()    # double backward
    return [first, x.grad]


def cpp_function(watch):
    x = torch.randn(5, requires_grad=True)
    y = torch.ops.memoir_test.scaled_square(x.exp(), 1.5)
    y.sum().backward()
    return [y, x.grad]


def functorch(watch):
    from torch.func import grad, jacrev, jvp, vmap

    w, x = torch.randn(4, 4), torch.randn(3, 4)
    loss = lambda w, x: (w @ x).tanh().pow(2).sum()
    per_sample = vmap(grad(loss), in_dims=(None, 0))(w, x)
    _, tangent = jvp(lambda x: (x * 2).sin(), (x,), (torch.ones_like(x),))
    return [per_sample, jacrev(lambda x: x.exp() * x)(x[0]), tangent]


def wrapper_subclass(watch):
    x = Wrapper(torch.randn(4, 4)).requires_grad_()
    y = torch.nn.functional.linear(x, x).relu() * 2
    y.sum().backward()
    return [y.inner, x.grad.inner]


def sparse_and_nested(watch):
    dense = torch.randn(4, 4).relu().requires_grad_()
    product = torch.sparse.mm(dense.to_sparse(), torch.randn(4, 3))
    product.sum().backward()
    coo = (dense.detach().to_sparse() * 2).coalesce()
    csr = dense.detach().to_sparse_csr() @ torch.ones(4, 1)
    nested = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    padded = torch.nested.to_padded_tensor(nested * 2, 0.0)
    jagged = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=torch.jagged)
    return [product, dense.grad, coo.values(), csr, padded, (jagged.sin() + 1).values()]


def threads(watch):
    results = {}

    def work(number):
        with watch.here():
            x = torch.full((number,), 2.0, requires_grad=True)
            torch.nn.functional.softplus(x).sum().backward()
            results[number] = x.grad

    for number in (1, 2):
        thread = threading.Thread(target=work, args=(number,))
        thread.start(), thread.join()
    return [results[1], results[2], torch.ones(2)]


PROGRAMS = [transformer, checkpoint, lstm, autocast, indexing, inference_mode, python_function, cpp_function, functorch, wrapper_subclass,
            sparse_and_nested, threads]


def digest(tensors):
    whole = hashlib.sha256()
    for tensor in tensors:
        whole.update(tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return whole.hexdigest()[:16]


def mark(name):
    """memoir.mark where Memoir records; a bare run has no memoir to import."""
    with contextlib.suppress(ImportError):
        import memoir

        memoir.mark(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seen")
    parser.add_argument("--library", required=True)
    options = parser.parse_args()
    torch.ops.load_library(options.library)
    results, seen = {}, {}
    for program in PROGRAMS:
        name = program.__name__
        torch.manual_seed(0)
        watch = Watch(options.seen is not None)
        mark(f"{name} begins")
        with watch.here():
            tensors = program(watch)
        mark(f"{name} ends")
        results[name], seen[name] = digest(tensors), watch.threads
    if options.seen:
        with open(options.seen, "w") as file:
            # Keys of higher priority have higher numbers.
            opaque = int(torch._C._parse_dispatch_key("Fake")) > int(torch._C.DispatchKey.Python)
            json.dump({"programs": seen, "subclasses_are_opaque": opaque}, file)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
