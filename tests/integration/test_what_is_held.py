"""The tensors that modules and optimizers hold, and gradients that autograd leaves: equal to the program's own list, by name and address."""

import json

import pytest

from recording import events, record, run_explicit

# Buffers, tied weights, modules that are never called themselves, a leaf of no module, gradients that add up over two backward passes and are
# dropped after each step. At the end of each range `said` it prints what there is.
TRAINING = '''
import json, torch
from torch import nn
class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offsets", torch.arange(8.0), persistent=False)
        self.register_buffer("nothing", None)
    def forward(self, x):
        return x + self.offsets
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(10, 8)
        self.scale = nn.Parameter(torch.ones(8))
        self.register_parameter("absent", None)
        self.register_buffer("mask", torch.ones(8))
        self.norm = nn.BatchNorm1d(8)
        self.table = Table()
        self.out = nn.Linear(8, 8)
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.token.weight
        self.unused = nn.Linear(3, 3)
    def forward(self, x):
        x = self.table(self.norm(self.token(x))) * self.scale * self.mask
        x = nn.functional.linear(x, self.out.weight, self.out.bias)
        return nn.functional.linear(x, self.head.weight)
model = Net()
leaf = torch.zeros(10, requires_grad=True)
optimizer = torch.optim.Adam([*model.parameters(), leaf])
own = lambda tensors: [[name, t._cdata] for name, t in tensors]
gradient = lambda p: 0 if p.grad is None else p.grad._cdata
parameters = [*model.parameters(), leaf]
def say(what):
    with torch.profiler.record_function("said"):
        pass
    print(json.dumps({"what": what, "gradients": {p._cdata: gradient(p) for p in parameters},
        "state": [[t._cdata for t in optimizer.state.get(p, {}).values() if isinstance(t, torch.Tensor)] for p in parameters]}), flush=True)
print(json.dumps({path: [own(m.named_parameters(recurse=False)), own(m.named_buffers(recurse=False))] for path, m in model.named_modules()}))
for step in range(3):
    for half in range(2):
        loss = (model(torch.arange(10)) + leaf).square().sum()
        loss.backward()
        say("backward")
    optimizer.step()
    say("step")
    optimizer.zero_grad(set_to_none=True)
    say("zero_grad")
'''


def address(tensor):
    return 0 if tensor is None else int(tensor["impl"], 16)


def lists(event):
    """Its lists, as addresses."""
    tensors = iter(event["tensors"])
    return [[address(next(tensors)) for _ in range(length)] for length in event["list_lengths"]]


def of_modules(found):
    """Path to its events, each as (named parameters, gradients, named buffers); what holds more has is added to its event."""
    modules, last = {}, None
    for event in found:
        if event["event"] == "module_holds":
            last = ([], [], [])
            modules.setdefault(event["module"], []).append(last)
        if event["event"] == "optimizer_holds":
            last = None
        if event["event"] in ("module_holds", "holds_more") and last is not None:
            parameters, gradients, buffers = lists(event)
            assert len(gradients) == len(parameters)
            names = event.get("names", [])
            assert len(names) == len(parameters) + len(buffers)
            last[0].extend([name, tensor] for name, tensor in zip(names, parameters))
            last[1].extend(gradients)
            last[2].extend([name, tensor] for name, tensor in zip(names[len(parameters):], buffers))
    return modules


def said(found):
    """The events up to each end of a range `said`."""
    parts = [[]]
    for event in found:
        parts[-1].append(event)
        if event["event"] == "range_end" and event["name"] == "said":
            parts.append([])
    return parts


@pytest.fixture(scope="module")
def training(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("held"), TRAINING)
    assert (done.returncode, done.stderr) == (0, "")
    modules, *says = [json.loads(line) for line in done.stdout.splitlines()]
    return modules, says, events(tree, capture)


def test_all_modules_have_their_parameters_and_buffers_by_name(training):
    expected, _, found = training
    held = of_modules(found)
    assert set(held) == {path for path, (parameters, buffers) in expected.items() if parameters or buffers}
    for path, seen in held.items():
        for parameters, _, buffers in seen:
            assert [parameters, buffers] == expected[path], path
    # Those that are never called themselves are known when their root is, and not looked at again.
    for path in ("out", "head", "unused"):
        assert len(held[path]) == 1 and set(held[path][0][1]) == {0}
    assert {path: len(held[path]) for path in ("table",)} == {"table": 1}
    first = next(i for i, event in enumerate(found) if event["event"] == "module_enter")
    assert set(of_modules(found[:first])) == set(held)


def test_gradients_are_those_that_autograd_left(training):
    _, says, found = training
    known = {}
    parts = said(found)[:-1]
    assert len(parts) == len(says) == 12
    for part, there in zip(parts, says):
        if there["what"] == "zero_grad":
            known.clear()
        new = [lists(event) for event in part if event["event"] == "gradient_of"]
        assert all(len(parameters) == len(gradients) == 1 for parameters, gradients in new)
        known.update((parameters[0], gradients[0]) for parameters, gradients in new)
        gradients = {int(parameter): gradient for parameter, gradient in there["gradients"].items() if gradient}
        assert known == gradients
        # The tied weight is one parameter; each is said once a pass.
        assert len(new) == (len(gradients) if there["what"] == "backward" else 0)
    assert all(event["kinds"] == "LL" and event["event"] == "gradient_of" for event in found if event["event"].startswith("gradient"))


def test_a_gradient_is_said_inside_the_range_that_accumulates_it(training):
    *_, found = training
    open_ranges = []
    for event in found:
        if event["event"] == "range_begin":
            open_ranges.append(event["name"])
        if event["event"] == "range_end":
            open_ranges.pop()
        if event["event"] == "gradient_of":
            assert open_ranges[-1] == "torch::autograd::AccumulateGrad"


def test_the_gradients_of_called_modules_at_their_calls(training):
    modules, says, found = training
    norm = [event[1] for event in of_modules(found)["norm"]]
    parameters = [str(tensor) for _, tensor in modules["norm"][0]]
    # Two calls a step: without gradients, and with gradients of the first half. The first call changes nothing that was recorded before.
    halves = [[says[first]["gradients"][p] for p in parameters] for first in (0, 4, 8)]
    assert all(all(half) for half in halves)
    assert norm == [[0, 0], halves[0], [0, 0], halves[1], [0, 0], halves[2]]


def test_the_optimizer_has_the_state_of_each_parameter(training):
    _, says, found = training
    seen = [event for event in found if event["event"] == "optimizer_holds"]
    steps = [say for say in says if say["what"] == "step"]
    filled = [event for event in seen if event["tensors"]]
    assert filled and not any("names" in event for event in seen)
    assert len([event for event in seen if not event["tensors"]]) == 3
    for event, there in zip(filled, steps):
        parameters, gradients, *state = lists(event)
        assert [str(p) for p in parameters] == list(there["gradients"])
        assert gradients == list(there["gradients"].values())
        assert state == there["state"] and {len(tensors) for tensors, g in zip(state, gradients) if g} == {3}
        assert [tensors for tensors, g in zip(state, gradients) if not g] == [[], []]  # of the unused


# Many parameters and long names, which need more than one record, and invalid names.
MANY = '''
import json, torch
from torch import nn
class Many(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(300):
            self.register_parameter(f"parameter_with_a_rather_long_name_that_fills_records_{i}", nn.Parameter(torch.zeros(1)))
        for i in range(140):
            self.register_buffer(f"b{i}", torch.zeros(1))
        self.register_parameter("\\u00fc\\n\\"", nn.Parameter(torch.zeros(1)))
        self.register_buffer("n" * 3000, torch.zeros(1))
    def forward(self, x):
        return x
model = Many()
model(1)
for p in model.parameters():
    p.grad = torch.ones(1)
optimizer = torch.optim.Adam(model.parameters())
optimizer.step()
print(json.dumps([[[n, t._cdata] for n, t in model.named_parameters()], [[n, t._cdata] for n, t in model.named_buffers()],
    [[t._cdata for t in optimizer.state[p].values()] for p in model.parameters()]]))
'''


def test_more_than_one_record_holds(tree, tmp_path):
    capture, done = record(tree, tmp_path, MANY)
    assert (done.returncode, done.stderr) == (0, "")
    parameters, buffers, state = json.loads(done.stdout)
    found = events(tree, capture)
    buffers[-1][0] = buffers[-1][0][:1000]  # cut
    (seen,) = of_modules(found)[""]
    assert (seen[0], seen[2]) == (parameters, buffers) and seen[1] == [0] * 301
    begin = next(i for i, event in enumerate(found) if event["event"] == "optimizer_holds")
    listed, states = [], []
    for event in found[begin:]:
        if event["event"] == "holds_more" or (event["event"] == "optimizer_holds" and event["tensors"]):
            assert event["kinds"] == "L" * (2 + event["list_lengths"][0]) and "names" not in event
            own, _, *more = lists(event)
            listed += own
            states += more
    assert listed == [tensor for _, tensor in parameters] and states == state


IN_BACKWARD = '''
import torch
model = torch.nn.Linear(4, 4, bias=False)
def step(parameter):
    parameter.grad = None
model.weight.register_post_accumulate_grad_hook(step)
for _ in range(2):
    model(torch.ones(2, 4)).sum().backward()
print(model.weight._cdata)
'''


def test_a_gradient_that_a_hook_freed_is_none(tree, tmp_path):
    capture, done = record(tree, tmp_path, IN_BACKWARD)
    assert (done.returncode, done.stderr) == (0, "")
    assert [lists(event) for event in events(tree, capture) if event["event"] == "gradient_of"] == 2 * [[[int(done.stdout)], [0]]]


# Objects that are not what torch makes them. It prints how often its own code ran, and what outlived its last reference.
ODD = '''
import collections, gc, torch, weakref
from torch import nn
ran = collections.Counter()
x = torch.ones(2, 2)
class Asked(nn.Module):
    """Its class answers in place of its dicts."""
    @property
    def _buffers(self):
        ran["property"] += 1
        return self.__dict__["_buffers"]
    @_buffers.setter
    def _buffers(self, value):
        self.__dict__["_buffers"] = value
    def forward(self, x):
        return x
class Own(dict):
    def values(self):
        ran["values"] += 1
        return super().values()
    items = keys = __iter__ = __bool__ = __len__ = values
class Key(str):
    def __str__(self):
        ran["str"] += 1
        return "key"
    __repr__ = encode = __len__ = __iter__ = __str__
class Strange:
    def __getattr__(self, name):
        ran["getattr " + name] += 1
        raise AttributeError(name)
    def __bool__(self):
        ran["bool"] += 1
        return True
class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        ran["torch function"] += 1
        return super().__torch_function__(function, types, args, kwargs)
class Plain(nn.Module):
    def forward(self, x):
        return x
class State(dict):
    values = Own.values
asked = Asked()
own = Plain()
own.weight = nn.Parameter(torch.ones(2))
own._parameters = Own(own._parameters)
own._buffers = Own({"buffer": torch.ones(3)})
strange = Plain()
strange.weight = nn.Parameter(torch.ones(2))
strange._buffers = Strange()
keys = Plain()
dict.update(keys._parameters, {1: nn.Parameter(torch.ones(2)), Key("own key"): nn.Parameter(torch.ones(3)), "\\udc80": nn.Parameter(torch.ones(4)),
    "with\\0zero": nn.Parameter(torch.ones(5)), "": nn.Parameter(torch.ones(6)), "last": nn.Parameter(torch.ones(7))})
dict.update(keys._buffers, {"sub": torch.ones(2).as_subclass(Sub), "number": 3, "buffer": torch.ones(8)})
ran.clear()
for module in (asked, own, strange, keys):
    module(x)
    module(x)
print(dict(ran))
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)
    def forward(self, x):
        return self.norm(self.fc(x))
model, leaf = Part(), torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([*model.parameters(), leaf], momentum=0.9)
for _ in range(2):
    (model(x) + leaf).sum().backward()
    optimizer.step()
tensors = [*model.parameters(), *model.buffers(), leaf, *(p.grad for p in model.parameters()), *(s["momentum_buffer"] for s in optimizer.state.values())]
references = [weakref.ref(t) for t in tensors] + [weakref.ref(optimizer), weakref.ref(model)]
del tensors, model, optimizer, leaf
gc.collect()
print(len(references), [r() for r in references if r() is not None])
'''


def test_odd_objects_are_left_alone_and_nothing_is_kept(tree, tmp_path):
    capture, done = record(tree, tmp_path, ODD)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["{}", "19 []"]
    held = of_modules(events(tree, capture))
    (keys,) = [seen for all_of_it in held.values() for seen in all_of_it if len(seen[0]) == 6]
    assert [name for name, _ in keys[0]] == [None, "own key", None, "with", None, "last"]
    assert [name for name, _ in keys[2]] == ["sub", "buffer"]


EXPLICIT = '''
import memoir, torch
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
model(torch.ones(2, 2))
for attempt in range(2):
    memoir.start("{folder}/" + str(attempt))
    model(torch.ones(2, 2))
    memoir.stop()
'''


def test_each_recording_says_it_anew(tree, tmp_path):
    done = run_explicit(tree, tmp_path, EXPLICIT.replace("{folder}", str(tmp_path)))
    assert (done.returncode, done.stderr) == (0, "")
    for attempt in range(2):
        held = of_modules(events(tree, tmp_path / str(attempt)))
        assert {path: ([n for n, _ in seen[0][0]], [n for n, _ in seen[0][2]]) for path, seen in held.items()} == {
            "0": (["weight", "bias"], []), "1": (["weight", "bias"], ["running_mean", "running_var", "num_batches_tracked"])}
