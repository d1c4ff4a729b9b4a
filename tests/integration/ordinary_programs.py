"""The programs of test_changes_nothing.py: ordinary_programs.py [--apart] FOLDER [NAME ...]

Runs each, one after the other, between two marks of its name, and prints a JSON object: per program its results (bit by bit), exceptions, warnings and reports,
and the order in which its tensors died. FOLDER is for files.

--apart: each in a separate process that shares only the import of torch, two at a time. Their output is in FOLDER, in NAME.out and NAME.err.
"""

import contextlib
import faulthandler
import io
import json
import os
import pathlib
import re
import sys
import threading
import traceback
import warnings
import weakref

import torch
import torch._dynamo

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from wrapper_tensor import Wrapper


class Log:
    """The observable behaviour of a program, in order."""

    def __init__(self, folder):
        self.folder, self.lines = folder, []

    def __call__(self, *words):
        self.lines.append(" ".join(map(str, words)))

    def value(self, name, tensor):
        self(name, tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes().hex())

    def life(self, name, tensor):
        """Notes when `tensor` is gone, from C++ too: torch keeps its Python object until then."""
        weakref.finalize(tensor, self, name, "is gone")
        return tensor

    def failure(self):
        self("raised", re.sub(r"0x[0-9a-f]+", "0x", traceback.format_exc()))


def train(log, generator=None, steps=2):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        optimizer.zero_grad()
        x = log.life(f"input {step}", torch.full((3, 6), 0.25 * (step + 1)))
        hidden = log.life(f"hidden {step}", model[0](x))
        loss = log.life(f"loss {step}", model[2](model[1](hidden)).pow(2).mean())
        del x, hidden
        log("backward")
        loss.backward()
        optimizer.step()
        log.value("loss", loss)
        del loss
    return model


def threads(log):
    logs = [Log(log.folder) for _ in range(3)]
    barrier = threading.Barrier(3)

    def work(own, number):
        w = torch.full((4, 4), 0.1 * (number + 1), requires_grad=True)
        barrier.wait()
        for step in range(5):
            loss = own.life(f"loss {step}", torch.nn.functional.linear(w, w).sin().sum())
            loss.backward()
            own.value("gradient", w.grad)
            del loss
        with contextlib.suppress(RuntimeError):
            w @ torch.ones(3)

    running = [threading.Thread(target=work, args=(own, number)) for number, own in enumerate(logs)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    log(*(own.lines for own in logs))


class FailsBackward(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise ArithmeticError("in a backward node")


def exceptions(log):
    w = torch.ones(2, 3, requires_grad=True)
    for attempt in (lambda: w @ w, lambda: torch.nn.functional.linear(w, torch.ones(2, 2)), lambda: torch.ones(2)[torch.tensor([5])],
                    lambda: torch.stack([]), lambda: w.add_(1), lambda: torch.empty(1 << 60), lambda: w.sum().backward(torch.ones(2)),
                    lambda: FailsBackward.apply(log.life("clone", w * 2)).sum().backward()):
        try:
            attempt()
        except Exception:
            log.failure()
    log.value("after all", w.exp().sum())


def inference_mode(log):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval()
    with torch.inference_mode():
        y = log.life("output", model(torch.ones(2, 4)))
        log.value("output", y.add_(1).reshape(4, 2).matmul(torch.ones(2, 2)))
        log(y.is_inference())
    try:
        y.mul_(model[0].weight.sum())
    except RuntimeError:
        log.failure()
    del y


def functorch(log):
    from torch.func import grad, hessian, jvp, vmap

    w, x = torch.linspace(-1, 1, 9).view(3, 3), torch.linspace(0, 2, 6).view(2, 3)
    loss = lambda w, x: (w @ x).tanh().pow(2).sum()
    log.value("per sample", vmap(grad(loss), in_dims=(None, 0))(w, x))
    log.value("hessian", hessian(lambda v: v.sin().prod())(x[0]))
    log.value("tangent", jvp(lambda x: log.life("inside", x * 2).exp(), (x,), (x,))[1])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        log.value("dual", torch.autograd.forward_ad.unpack_dual(dual.cos()).tangent)


class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        Wrapper.calls.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})


def subclasses(log):
    from torch._subclasses.fake_tensor import FakeTensorMode

    Wrapper.calls.clear()
    x = Wrapper(log.life("inner", torch.linspace(0, 1, 9).view(3, 3))).requires_grad_()
    torch.nn.functional.linear(x, x).relu().sum().backward()
    log.value("gradient", x.grad.inner)
    log.value("named", torch.ones(3).as_subclass(Named).cumsum(0).exp().as_subclass(torch.Tensor))
    with FakeTensorMode():
        log(torch.nn.functional.linear(torch.empty(7, 5), torch.empty(3, 5)).shape)
    log(*Wrapper.calls)
    del x


def checkpointing(log):
    from torch.utils.checkpoint import checkpoint

    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Sigmoid())
    for reentrant in (False, True):
        x = torch.linspace(0, 1, 8).view(2, 4).requires_grad_()
        log.value("loss", log.life("output", checkpoint(model, x, use_reentrant=reentrant)).sum())
        checkpoint(lambda x: log.life("recomputed", model(x)), x, use_reentrant=reentrant).sum().backward()
        log.value("gradient", x.grad)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (log("saved", t.shape), t.clone())[1], lambda t: (log("taken"), t)[1]):
        model(torch.ones(1, 4)).sum().backward()
    log.value("weights' gradient", model[0].weight.grad)


def double_backward(log):
    x = torch.linspace(0.5, 1, 4, requires_grad=True)
    w = torch.ones(4, 4, requires_grad=True)
    y = log.life("y", torch.nn.functional.linear(x.sin(), w).exp().sum())
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x, create_graph=True)
    log.value("second", second)
    second.sum().backward()
    log.value("third", x.grad)
    log.value("mixed", w.grad)
    x.grad = w.grad = None       # they hold the graph, and it them
    del y, first, second


def inductor(log):
    counters = fresh_counters()
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
    fast = torch.compile(model)
    for size in (2, 2, 3):
        loss = log.life("loss", fast(torch.full((size, 4), 0.5)).square().mean())
        loss.backward()
        log.value("loss", loss)
        del loss
    log.value("gradient", model[0].weight.grad)
    log(json.dumps({name: dict(counters[name]) for name in ("stats", "frames", "graph_break")}, sort_keys=True))


def fresh_counters():
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    return counters


def compiled(log):
    counters = fresh_counters()
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())

    def step(x):
        y = model(x)
        torch._dynamo.graph_break()
        return y.square().mean()

    fast = torch.compile(step, backend="aot_eager")
    torch.nn.init.constant_(model[0].weight, 0.2), torch.nn.init.constant_(model[0].bias, 0.1)
    for size in (2, 2, 3, 5):
        loss = log.life("loss", fast(torch.full((size, 4), 0.5)))
        loss.backward()
        log.value("loss", loss)
        del loss
    thread = threading.Thread(target=lambda: log.value("in a thread", fast(torch.full((5, 4), 0.5))))
    thread.start(), thread.join()
    log(json.dumps({name: dict(counters[name]) for name in ("stats", "frames", "graph_break")}, sort_keys=True))


def execution_trace(log):
    observer = torch.profiler.ExecutionTraceObserver().register_callback(f"{log.folder}/trace.json")
    observer.start()
    train(log)
    observer.stop()
    observer.unregister_callback()
    for node in json.load(open(f"{log.folder}/trace.json"))["nodes"]:
        shown = [node["name"], node["inputs"]["shapes"], node["inputs"]["types"], node["outputs"]["shapes"]]
        log(*shown, *(a["value"] for a in node["attrs"] if a["name"] in ("op_schema", "seq_id", "scope")))


def profiler(log):
    from torch.profiler import ProfilerActivity, profile, schedule

    def ready(profile):
        rows = [(e.key, e.count, e.cpu_memory_usage, e.self_cpu_memory_usage, str(e.input_shapes)) for e in profile.key_averages(True)]
        log("ready", *sorted(rows))

    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready,
                 profile_memory=True, record_shapes=True) as running:
        for _ in range(8):
            train(log, steps=1)
            running.step()


def faults(log):
    def dump():
        with open(f"{log.folder}/stacks", "w+") as file:
            faulthandler.dump_traceback(file)
            file.seek(0)
            log(re.sub(r"0x[0-9a-f]+", "0x", file.read()))

    class Dumps(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            dump()
            return x * 2

        @staticmethod
        def backward(context, gradient):
            dump()
            return gradient * 2

    x = torch.ones(3, requires_grad=True)
    Dumps.apply(x).sum().backward()
    log.value("gradient", x.grad)


PROGRAMS = [threads, exceptions, inference_mode, functorch, subclasses, checkpointing, double_backward, compiled, execution_trace, profiler, faults,
            inductor]


def mark(name):
    """memoir.mark where Memoir records; a bare run has no memoir to import."""
    with contextlib.suppress(ImportError):
        import memoir

        memoir.mark(name)


def in_child(folder, names):
    """Forks one for each of `names`, which returns with its own; this process ends when they have."""
    running, failed = set(), False

    def wait():
        child, status = os.wait()
        running.remove(child)
        return status != 0

    for name in names:
        if len(running) == 2:
            failed |= wait()
        child = os.fork()
        if child == 0:
            for stream, suffix in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{folder}/{name}.{suffix}", os.O_CREAT | os.O_WRONLY), stream)
            return [name]
        running.add(child)
    while running:
        failed |= wait()
    sys.exit(failed)


def arguments():
    apart, *rest = sys.argv[1:] if sys.argv[1] == "--apart" else ["", *sys.argv[1:]]
    folder, *wanted = rest
    return folder, in_child(folder, wanted or [program.__name__ for program in PROGRAMS]) if apart else wanted


def main(folder, wanted):
    torch.set_num_threads(1)
    faulthandler.enable(io.open(2, "w", closefd=False))
    shown = {}
    for program in PROGRAMS:
        if wanted and program.__name__ not in wanted:
            continue
        torch.manual_seed(0)
        log = Log(folder)
        warnings.showwarning = lambda message, *more: log("warned", message)
        mark(f"{program.__name__} begins")
        program(log)
        mark(f"{program.__name__} ends")
        shown[program.__name__] = log.lines
    print(json.dumps(shown))


if __name__ == "__main__":
    main(*arguments())
