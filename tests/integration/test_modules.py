"""Which module each operator belongs to: forward, backward, recomputed; and the program behaves as without Memoir."""

import re
import subprocess
import sys

import pytest

from recording import events, record, run_explicit, show, without_times

# Every layer has a different width, so the shape of a weight identifies an operator's layer.
SHAPES = '''
import torch
from torch import nn
class Block(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(width, inner), "fc2": nn.Linear(inner, width)})
    def forward(self, x):
        return x + self.mlp["fc2"](torch.relu(self.mlp["fc1"](self.norm(x))))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(50, 16)
        self.layers = nn.ModuleList(Block(16, 31 + i) for i in range(3))
        self.head = nn.Linear(16, 50)
    def forward(self, x):
        x = self.token(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
model = Model()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.arange(40)), torch.arange(40) + 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
WEIGHTS = {(50, 16): "head"}
for i in range(3):
    WEIGHTS[(31 + i, 16)], WEIGHTS[(16, 31 + i)] = f"layers.{i}.mlp.fc1", f"layers.{i}.mlp.fc2"


@pytest.fixture(scope="module")
def shapes(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("shapes"), SHAPES)
    assert (done.returncode, done.stderr) == (0, "")
    return capture


def test_every_operator_forward_and_backward(tree, shapes):
    found = events(tree, shapes)
    forward = [e for e in found if e["event"] == "range_begin" and e["name"] == "aten::linear"]
    assert len(forward) == 14
    for event in forward:
        assert (event["module"], event["root"], event["phase"]) == (WEIGHTS[tuple(event["tensors"][1]["sizes"])], "Model", "forward")
    # Backward: the products whose result has the shape of a weight, and those that take one.
    products = [e for e in found if e["event"] == "range_begin" and e["name"] == "aten::mm" and e["phase"] == "backward"]
    assert len(products) == 28
    ends = {e["call"]: e for e in found if e["event"] == "range_end"}
    for event in products:
        sizes = [tuple(t["sizes"]) for t in event["tensors"] + ends[event["call"]]["tensors"]]
        known = {WEIGHTS[s] for size in sizes for s in (size, size[::-1]) if s in WEIGHTS and 40 not in size}
        assert event["module"] in known, (event["module"], sizes)
    accumulated = [e for e in found if e["event"] == "module_enter" and e.get("of_gradient")]
    assert sorted({e["module"] for e in accumulated}) == sorted({"token", *WEIGHTS.values(), *(f"layers.{i}.norm" for i in range(3))})
    nodes = [e for e in found if e["event"] == "range_begin" and e["name"] == "torch::autograd::AccumulateGrad"]
    assert len(accumulated) == len(nodes) == 2 * len(list(range(1 + 3 * 6 + 2)))


def test_rows_close_and_subtotals_stand(tree, shapes):
    report = show(tree, shapes, "--by", "module")
    rows, device = report["modules"], report["devices"][0]
    assert sum(row["allocated_bytes"] for row in rows) == device["allocated_bytes"] > 0
    assert sum(row["bytes_at_peak"] for row in rows) == device["peak_allocated_bytes"]
    assert sum(row["net_bytes"] for row in rows) == device["live_bytes_at_end"]
    assert sum(phase["allocated_bytes"] for phase in report["phases"].values()) == device["allocated_bytes"]
    assert set(report["phases"]) == {"forward", "backward", "optimizer", "other"}
    by_name = {row["name"]: row for row in rows}
    assert by_name["layers.1"]["class"] == "Block" and by_name["layers.1"]["count"] == 2
    assert by_name["layers"]["kind"] == "container" and by_name["layers.1.mlp"]["kind"] == "container"
    for name, row in by_name.items():
        if "subtree" in row:
            below = [r for r in rows if name == "Model" and "path" in r or r.get("path", "").startswith(name + ".") or r is row]
            assert row["subtree"]["allocated_bytes"] == sum(r["allocated_bytes"] for r in below), name
        if "phases" in row:
            assert sum(p["allocated_bytes"] for p in row["phases"].values()) == row["allocated_bytes"]


ODD = '''
import copy, gc, pickle, threading, torch, weakref
from torch import nn
from torch.utils.checkpoint import checkpoint
case = lambda name: torch.profiler.record_function("case " + name)
x = torch.randn(2, 4)
def net(**parts):
    model = nn.Module()
    for name, part in parts.items():
        setattr(model, name, part)
    return model
class Net(nn.Module):
    def __init__(self, *parts, run=lambda self, x: None):
        super().__init__()
        for i, part in enumerate(parts):
            setattr(self, f"part{i}", part)
        self.run = run
    def forward(self, x):
        return self.run(self, x)
fc = lambda: nn.Linear(4, 4)
one_two = lambda self, x: self.part1(self.part0(x))

tied = Net(fc(), fc(), run=one_two)
tied.part1.weight = tied.part0.weight
with case("tied"):
    tied(x).sum().backward()
shared = fc()
model = Net(shared, shared, run=one_two)
with case("shared"):
    model(x)
model = Net(fc(), fc(), run=one_two)
model(x)
model.part1 = nn.Sequential(fc())
with case("late"):
    model(x).sum().backward()
models = [Net(fc(), fc(), run=one_two) for _ in range(2)]   # several roots of one class
with case("roots"):
    for one in models:
        one(x)
model = Net(nn.Sequential(fc()), fc(), run=one_two)
with case("outside"):
    model.part0(x)
with case("direct"):
    model.forward(x)
model = Net(fc(), fc(), run=lambda self, x: self.part1.forward(self.part0(x)))
with case("direct inside"):
    model(x)
def deep(self, x):
    closure = lambda: self.part1.forward(torch.relu(x))
    return self.part0.forward(closure()) + 1
model = Net(Net(fc(), fc(), run=deep), fc(), run=lambda self, x: self.part1(torch.abs(self.part0.forward(x))) * 2)
model(x)
with case("direct deep"):
    model.forward(x)
    torch.neg(x)
class Derived(Net):
    def forward(self, x):
        return torch.neg(self.further(x))
    def further(self, x):
        return super().forward(torch.abs(x))
model = Derived(fc(), run=lambda self, x: torch.relu(self.part0(x)))
model(x)
with case("super"):
    model(x)
    model.forward(x)
model = Net(fc(), run=lambda self, x: torch.tanh(self.part0.forward(x)))
model(x)
with case("direct again"):
    checkpoint(model.forward, x.clone().requires_grad_(), use_reentrant=False).sum().backward()
model = Net(fc(), run=lambda self, x: self.part0(torch.ones(3)))
with case("exception"):
    try:
        model(x)
    except RuntimeError:
        pass
    nn.functional.linear(x, x)
with case("inline"):
    for _ in range(50):
        nn.Sequential(fc())(x)
model = Net(fc(), fc(), run=one_two)
for name, reentrant in (("reentrant", True), ("not reentrant", False)):
    with case(name):
        checkpoint(model, x.clone().requires_grad_(), use_reentrant=reentrant).sum().backward()
def inplace(self, x):
    y = self.part0(x)
    y[:, 0].mul_(2)
    return self.part1(y)
model = Net(fc(), fc(), run=inplace)
with case("copy slices"):
    model(x).sum().backward()
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return torch.linalg.multi_dot([g, torch.eye(4), torch.eye(4)])
with case("function"):
    Net(Net(run=lambda self, x: Double.apply(x)), run=lambda self, x: self.part0(x))(x.clone().requires_grad_()).sum().backward()
model = Net(fc(), run=lambda self, x: torch.tanh(self.part0(x)))
with case("double"):
    y = x.clone().requires_grad_()
    gradient, = torch.autograd.grad(model(y).sum(), y, create_graph=True)
    gradient.pow(2).sum().backward()
model = Net(fc(), run=lambda self, x: self.part0(x))
def on_thread():
    with case("on a thread"):
        model(x)
thread = threading.Thread(target=on_thread)
thread.start()
thread.join()

before = set(model.__dict__), set(model.part0.__dict__)
alike = copy.deepcopy(model.part0)
assert pickle.loads(pickle.dumps(model.part0))(x).equal(model(x)) and alike(x).equal(model(x))
assert before == (set(model.__dict__), set(model.part0.__dict__)) and list(model.state_dict()) == ["part0.weight", "part0.bias"]
gone = weakref.ref(model), weakref.ref(model.part0.weight), weakref.ref(alike)
del model, alike, thread, on_thread
gc.collect()
assert [r() for r in gone] == [None] * 3
print("fine")
'''


@pytest.fixture(scope="module")
def odd(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("odd"), ODD)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
    return events(tree, capture)


def inside(found, case):
    """Events on any thread between the begin and the end of the user range of this case."""
    begin = next(i for i, e in enumerate(found) if e["event"] == "range_begin" and e["name"] == "case " + case)
    end = next(i for i, e in enumerate(found) if e["event"] == "range_end" and e["call"] == found[begin]["call"])
    return found[begin:end]


def linears(found, case, name="aten::linear"):
    return [e.get("module") for e in inside(found, case) if e["event"] == "range_begin" and e["name"] == name]


def gradients(found, case):
    return sorted(e["module"] for e in inside(found, case) if e.get("of_gradient"))


def test_tied_and_shared(odd):
    assert linears(odd, "tied") == ["part0", "part1"]
    assert gradients(odd, "tied") == ["part0", "part0", "part1"]   # the weight is the first one's, each bias its own
    assert linears(odd, "shared") == ["part0", "part0"]


def test_late_and_several_roots(odd):
    assert linears(odd, "late") == ["part0", "part1.0"]
    assert gradients(odd, "late") == ["part0"] * 2 + ["part1.0"] * 2
    roots = [e["root"] for e in inside(odd, "roots") if e["event"] == "range_begin" and e["name"] == "aten::linear"]
    assert roots[0] == roots[1] != roots[2] == roots[3] and all(re.fullmatch(r"Net(#\d+)?", r) for r in roots)


def test_called_outside_of_the_root_and_past_call(odd):
    assert linears(odd, "outside") == ["part0.0"]
    assert linears(odd, "direct") == ["part0.0", "part1"]
    assert linears(odd, "direct inside") == ["part0", "part1"]
    assert linears(odd, "direct deep") == ["part0.part1", "part0.part0", "part1"]
    for operator, module in (("relu", "part0"), ("add.Tensor", "part0"), ("abs", ""), ("mul.Tensor", ""), ("neg", None)):
        assert linears(odd, "direct deep", "aten::" + operator) == [module]
    entered = [e["module"] for e in inside(odd, "direct deep") if e["event"] == "module_enter"]
    assert entered == ["", "part0", "part0.part1", "part0.part0", "part1"]
    assert [e["module"] for e in inside(odd, "super") if e["event"] == "module_enter"] == ["", "part0"] * 2
    for operator in ("abs", "relu", "neg"):
        assert linears(odd, "super", "aten::" + operator) == [""] * 2
    found = [e for e in inside(odd, "direct again") if e["event"] == "range_begin" and e["name"] in ("aten::linear", "aten::tanh")]
    assert [(e["module"], e["phase"]) for e in found] == [(part, phase) for phase in ("forward", "recompute") for part in ("part0", "")]
    assert {e.get("module") for e in inside(odd, "direct again") if e["event"] == "range_begin" and e["name"] == "TanhBackward0"} == {""}


def test_exceptions_and_modules_made_in_place(odd):
    assert linears(odd, "exception") == ["part0", None]
    begun = [e for e in inside(odd, "inline") if e["event"] == "module_enter"]
    assert len(begun) == 100 and {(e["root"], e["module"]) for e in begun} == {("Sequential", ""), ("Sequential", "0")}


@pytest.mark.parametrize("case", ["reentrant", "not reentrant"])
def test_checkpointing_is_a_phase(odd, case):
    found = [e for e in inside(odd, case) if e["event"] == "range_begin" and e["name"] == "aten::linear"]
    assert [(e["module"], e["phase"]) for e in found] == [
        (part, phase) for phase in ("forward", "recompute") for part in ("part0", "part1")]
    products = [e for e in inside(odd, case) if e["event"] == "range_begin" and e["name"] == "aten::mm"]
    assert products and {e["phase"] for e in products} == {"backward"}
    assert {e.get("module") for e in products} == {"part0", "part1"}
    assert gradients(odd, case) == ["part0"] * 2 + ["part1"] * 2


def test_copy_slices_functions_double_backward_and_threads(odd):
    slices = linears(odd, "copy slices", "torch::autograd::CopySlices")
    assert slices == [""]                                  # in place in the model's own forward, between part0 and part1
    node = linears(odd, "function", "DoubleBackward")
    assert node == ["part0"]
    assert set(linears(odd, "double", "aten::mm")) == {"part0"}
    assert linears(odd, "on a thread") == ["part0"]


COMPILED = '''
import sys, warnings, torch
from torch import nn
class Break(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        x = self.fc(x)
        torch._dynamo.graph_break()
        return x.relu()
def model(hook):
    made = nn.Sequential(nn.Linear(8, 8), nn.Sequential(Break(), nn.ReLU()), nn.Linear(8, 8))
    if hook:
        made[0].register_forward_hook(lambda module, arguments, result: None)
    return made
torch.manual_seed(0)
x = torch.randn(4, 8)
from torch._dynamo.utils import counters
for backend in ("eager", "aot_eager"):
    for hook in (False, True):
        for wrap in (lambda m: torch.compile(m, backend=backend), lambda m: torch.compile(lambda x: m(x) * 2, backend=backend)):
            torch._dynamo.reset()
            counters.clear()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                run = wrap(model(hook))
                total = 0.0
                for size in (4, 4, 3):
                    loss = run(x[:size]).sum()
                    loss.backward()
                    total += loss.item()
            print(backend, hook, total.hex(), dict(counters["stats"]), dict(counters["frames"]), sum(counters["graph_break"].values()),
                  [str(w.message) for w in caught])
'''


def test_compiled_graphs_are_the_same(tree, tmp_path):
    capture, done = record(tree, tmp_path, COMPILED)
    bare = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True)
    assert done.returncode == bare.returncode == 0, done.stderr
    assert (done.stdout, without_times(done.stderr)) == (bare.stdout, without_times(bare.stderr)) and done.stdout.count("unique_graphs") == 8
    report = show(tree, capture, "--by", "module")
    assert report["operator_calls"] > 500 and report["module_calls"] > 20
    assert 0 < report["compiled_regions"]["allocated_bytes"] < report["devices"][0]["allocated_bytes"]
    inside_regions = [e for e in events(tree, capture) if e["event"] == "range_begin" and e["name"] == "CompiledFunction"]
    assert inside_regions and all(e["root"] == "Sequential" for e in inside_regions if "root" in e)


SWITCHED = '''
import sys, torch, memoir
call = torch.nn.Module.__call__
memoir.start(sys.argv[1], modules=False)
assert torch.nn.Module.__call__ is call
torch.nn.Linear(2, 2)(torch.ones(1, 2))
memoir.stop()
memoir.start(sys.argv[2])
assert torch.nn.Module.__call__ is not call and torch.nn.Module.__call__.__qualname__ == call.__qualname__
torch.nn.Linear(2, 2)(torch.ones(1, 2))
memoir.stop()
assert torch.nn.Module.__call__ is call
memoir.start(sys.argv[3])
torch.nn.Linear(2, 2)(torch.ones(1, 2))
memoir.stop()
'''


def test_off_on_and_on_again(tree, tmp_path):
    captures = [tmp_path / name for name in ("off", "on", "again")]
    done = run_explicit(tree, tmp_path, SWITCHED, *captures)
    assert (done.returncode, done.stderr) == (0, "")
    seen = [[e for e in events(tree, capture) if e["event"] == "module_enter"] for capture in captures]
    assert [len(found) for found in seen] == [0, 1, 1]
    assert all((e["root"], e["module"], e["class"]) == ("Linear", "", "Linear") for found in seen for e in found)
    assert all(show(tree, capture)["operator_calls"] > 0 for capture in captures)


def test_where_calls_cannot_be_seen(tree, tmp_path):
    done = run_explicit(tree, tmp_path, '''
import ctypes, functools, sys, torch, memoir
class Call:  # no function with code
    def __get__(self, module, kind, call=torch.nn.Module.__call__):
        return functools.partial(call, module)
torch.nn.Module.__call__ = Call()
memoir.start(sys.argv[1])
torch.nn.Linear(2, 2)(torch.ones(1, 2))
''', tmp_path / "capture")
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("memoir: recording without modules: ") and "--modules off" in done.stderr
    report = show(tree, tmp_path / "capture")
    assert {row["name"]: row["count"] for row in report["operators"]}["aten::linear"] == 1
