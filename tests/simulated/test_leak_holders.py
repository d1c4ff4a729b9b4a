"""`memoir run --holders`: `memoir check leaks` says of each leak by which variable, attribute or container its tensors are held.

The search runs inside the program, which must not notice: nothing of its classes is called, nothing is kept.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
PROGRAMS = HERE / "held_programs.py", HERE / "leak_programs.py"


def seeded():
    """{(file, line): (name, where it is held)}"""
    held_by = json.loads(re.search(r"^HELD_BY = (\{.*?\})$", PROGRAMS[0].read_text(), re.DOTALL | re.MULTILINE)[1])
    lines = {}
    for program in PROGRAMS:
        for number, line in enumerate(program.read_text().splitlines(), 1):
            if match := re.search(r"# LEAK: (\w+)(?: by (.+))?$", line):
                lines[program.name, number] = match[1], match[2] or held_by[match[1]]
    return lines


def run(tree, folder, program, *arguments, options=("--holders",)):
    capture = folder / "capture"
    command = [tree / "bin/memoir", "run", "-q", "-o", capture, *options, "--", sys.executable, program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return capture, done


def leaks_of(tree, capture, *arguments):
    done = subprocess.run([tree / "bin/memoir", "check", "leaks", *arguments, capture], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)["leaks"] if "--json" in arguments else " ".join(done.stdout.split())


def judge(leaks, left_out, where):
    """Each that was seeded is found, with who holds it; nothing else is accused."""
    wanted = {place: what for place, what in seeded().items() if what[0] not in left_out}
    found = {(Path(leak["file"]).name, leak["line"]): leak for leak in leaks}
    missing = [name for place, (name, _) in wanted.items() if place not in found]
    # The tensors on the other marked lines are kept by the seeded line, too.
    near = {(file, line + by) for file, line in seeded() for by in (-1, 0, 1)} | {("held_programs.py", line) for line in graph_lines()}
    accused = [place for place in found if place not in near]
    nameless = {name: found[place]["holder"] for place, (name, path) in wanted.items() if place in found and not any(holder["name"].startswith(path) for holder in found[place]["holders"])}
    print(f"{where}: {len(wanted) - len(missing)} of {len(wanted)} leaks found, {len(wanted) - len(missing) - len(nameless)} with who holds them; {len(accused)} others accused")
    assert (missing, nameless, accused) == ([], {}, [])


def graph_lines():
    """Of `self.total + loss`, and of what a function of autograd computes: kept by the same graphs."""
    return [number for number, line in enumerate(PROGRAMS[0].read_text().splitlines(), 1) if "self.total + loss" in line or "return x * 2" in line or "Scaled.apply" in line]


def test_each_leak_has_its_holder_and_no_healthy_program_is_accused(tree, tmp_path):
    capture, done = run(tree, tmp_path, PROGRAMS[0])
    assert done.returncode == 0, done.stderr
    leaks = leaks_of(tree, capture, "--json")
    judge(leaks, {"gc_off", "pinned"}, "cpu")
    assert all(leak["since_step"] <= 5 and leak["bytes_per_step"] >= 1 << 18 for leak in leaks)
    text = leaks_of(tree, capture, "--top", "0")
    assert "held by leaks.hooked[…] (list, local of main() in held_programs.py)" in text
    assert "Which variables hold them" not in text
    graph = next(leak for leak in leaks if leak["holder"].startswith("leaks.losses[…] (list"))
    assert re.search(r" → SumBackward0 → PowBackward0", " ".join(holder["name"] for holder in graph["holders"])), graph


@pytest.mark.skipif(not os.environ.get("MEMOIR_LEAKS_ON_GPU"), reason="in the long entry alone: MEMOIR_LEAKS_ON_GPU=1")
def test_on_a_gpu_with_the_garbage_collector_off(tree, tmp_path):
    capture, done = run(tree, tmp_path, PROGRAMS[0], "--device", "cuda", "--gc-off", options=("--holders", "--simulate", "h100"))
    assert done.returncode == 0, done.stderr
    leaks = leaks_of(tree, capture, "--json")
    judge(leaks, {"numpy_array"}, "cuda")
    assert {leak["device"] for leak in leaks} == {"cuda:0", "pinned"}
    assert any("while gc is off" in leak["holder"] for leak in leaks)


BY_OPTIMIZER = """
import sys, torch
class Trainer:
    def __init__(self):
        self.model, self.losses = torch.nn.Linear(256, 256), []
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
    def fit(self, steps):
        for step in range(steps):
            loss = (self.model(torch.ones(256, 256)) ** 2).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.losses.append((self.model(torch.ones(256, 256)) ** 2).mean())
            if step == 20: raise RuntimeError("in the middle")
Trainer().fit(int(sys.argv[1]))
from _torch_memoir.holders import _holders
print("searched", _holders._next > 6)  # the first search is due after 6 steps, the next after 12
"""


@pytest.mark.parametrize("steps", [20, 40], ids=["between_steps", "at_an_error"])
def test_steps_of_an_optimizer_and_an_error_that_ends_the_program(tree, tmp_path, steps):
    program = tmp_path / "trainer.py"
    program.write_text(BY_OPTIMIZER)
    capture, done = run(tree, tmp_path, program, str(steps))
    assert done.returncode == (0 if steps == 20 else 1)
    leaks = leaks_of(tree, capture, "--json")
    assert {leak["line"] for leak in leaks} == {13}
    (name,) = {holder["name"].partition(" (")[0] for leak in leaks for holder in leak["holders"]}
    assert name == "Trainer.losses[…]"
    if steps == 40:  # searched at the end, too, when only frames of the error's traceback are left
        (leak,) = leaks
        assert sum(holder["blocks"] for holder in leak["holders"]) == leak["blocks"]


WRAPPED = """
import memoir, torch
from torch.nn.parallel import DistributedDataParallel
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
class Trainer:
    def __init__(self):
        self.model, self.wrapped = torch.nn.Linear(256, 256), []
    def fit(self, steps):
        for step in range(steps):
            self.wrapped.append(DistributedDataParallel(self.model))
            self.wrapped[-1](torch.ones(4, 256)).sum().backward()
            memoir.step()
Trainer().fit(20)
"""


def test_buckets_of_gradients_that_a_reducer_holds_in_cpp(tree, tmp_path):
    program = tmp_path / "trainer.py"
    program.write_text(WRAPPED)
    capture, done = run(tree, tmp_path, program)
    assert done.returncode == 0, done.stderr
    leaks = leaks_of(tree, capture, "--json")
    assert sum(leak["bytes_per_step"] for leak in leaks) >= 256 << 10
    for leak in leaks:
        names = {holder["name"].partition(" (")[0]: holder["name"].rpartition(") ")[2] for holder in leak["holders"]}
        assert names == {"Trainer.wrapped[…].reducer": "→ buckets of gradients"}, leak


def test_without_the_option_nothing_is_looked_for(tree, tmp_path):
    program = tmp_path / "trainer.py"
    program.write_text(BY_OPTIMIZER)
    capture, done = run(tree, tmp_path, program, "18", options=())
    assert done.returncode == 0 and done.stdout == "searched False\n"
    (leak,) = leaks_of(tree, capture, "--json")
    assert leak["holders"] == [] and leak["holder"] == leak["kept_by"]
    assert "Which variables hold them: record with memoir run --holders" in leaks_of(tree, capture)


WATCHED = """
import gc, sys, types, weakref
import torch, memoir
from _torch_memoir.holders import _holders
calls = []
class Meta(type):
    def __getattribute__(cls, name): calls.append(("Meta", name)); return type.__getattribute__(cls, name)
    def __hash__(cls): calls.append("Meta hash"); return type.__hash__(cls)
    def __eq__(cls, other): calls.append("Meta eq"); return cls is other
    def __instancecheck__(cls, thing): calls.append("Meta instance"); return False
    def __subclasscheck__(cls, thing): calls.append("Meta subclass"); return False
class Watched(metaclass=Meta):
    def __init__(self, tensor): object.__setattr__(self, "tensor", tensor)
    def __getattribute__(self, name): calls.append(("get", name)); return object.__getattribute__(self, name)
    def __getattr__(self, name): calls.append(("getattr", name)); raise AttributeError(name)
    def __eq__(self, other): calls.append("eq"); return True
    def __hash__(self): calls.append("hash"); return 1
    def __bool__(self): calls.append("bool"); return True
    def __len__(self): calls.append("len"); return 0
    def __iter__(self): calls.append("iter"); return iter(())
    def __repr__(self): calls.append("repr"); return ""
    def __del__(self): calls.append("del")
    @property
    def __class__(self): calls.append("class"); return int
class Items(list):
    def __iter__(self): calls.append("list iter"); return list.__iter__(self)
    def __len__(self): calls.append("list len"); return list.__len__(self)
    def __getitem__(self, at): calls.append("list item"); return list.__getitem__(self, at)
class Keys(dict):
    def values(self): calls.append("values"); return dict.values(self)
    def items(self): calls.append("items"); return dict.items(self)
    def __iter__(self): calls.append("dict iter"); return dict.__iter__(self)
class Own(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        calls.append(("torch function", function)); return super().__torch_function__(function, types, args, kwargs or {})
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        calls.append(("mode", function)); return function(*args, **(kwargs or {}))
class Dispatch(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        calls.append(("dispatch", function)); return function(*args, **(kwargs or {}))
module = types.ModuleType("lazy")
module.__getattr__ = lambda name: calls.append(("module", name))
sys.modules["lazy"] = module
kept, items, keys, own = [], Items(), Keys(), []
def pack(tensor): return tensor
def unpack(tensor): calls.append("unpack"); return tensor
gc.collect()
gc.disable()
def main():
    weight = torch.ones(8, 8, requires_grad=True)
    temporary = torch.ones(64)
    gone = weakref.ref(temporary)
    for step in range(13):
        kept.append(Watched(torch.ones(8)))
        items.append(torch.ones(8)); keys[step] = torch.ones(8)
        own.append(torch.ones(8).as_subclass(Own))
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            kept.append((weight * 2 + step).exp().sum())
        view = torch.ones(4, 4); view[0].add_(1); kept.append(view[1])
        calls.clear()
        cow = torch._lazy_clone(torch.ones(4)); kept.append(cow)
        before = gc.isenabled(), gc.get_count()[2], torch.is_grad_enabled(), len(sys._current_frames())
        with Mode(), Dispatch():
            calls.clear()
            memoir.step(step)
            seen = list(calls)
        assert seen == [], (step, seen[:9])
        assert before[0::2] == (gc.isenabled(), torch.is_grad_enabled())
        assert torch._C._is_cow_tensor(cow), "materialised"
    assert _holders._next > 6, "not searched"
    del temporary
    assert gone() is None, "kept"
    assert not [thing for thing in gc.get_objects() if type.__getattribute__(type(thing), "__module__") == "_torch_memoir.holders._search"], "kept until the garbage collector comes"
    kept.clear()
    assert sys.getrefcount(own[0]) == 2, sys.getrefcount(own[0])
    assert locals()["step"] == 12
    print("unharmed")
main()
"""


def test_the_program_notices_nothing(tree, tmp_path):
    program = tmp_path / "watched.py"
    program.write_text(WATCHED)
    _, done = run(tree, tmp_path, program)
    assert (done.stdout, done.returncode) == ("unharmed\n", 0), done.stderr


INTERRUPTED = """
import gc, os, signal, sys, threading, time, torch, memoir
class Preempted(Exception): pass
def preempt(*_):
    global calls
    calls += 1
    raise Preempted
calls = caught = 0
signal.signal(signal.SIGALRM, preempt)
kept, interval, collects = [], sys.getswitchinterval(), []
for step in range(13):
    kept.append(torch.ones(1000, requires_grad=True) * 2)
    before = calls
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        memoir.step()
        while calls == before: time.sleep(0.01)
    except Preempted:
        caught += 1
    collects.append(gc.isenabled())
child = os.fork()
if child == 0: os._exit(0 if gc.isenabled() and sys.getswitchinterval() == interval else 1)
print(calls, caught, all(collects), sys.getswitchinterval() == interval, os.waitpid(child, 0)[1])
"""


def test_what_the_programs_signals_raise_reaches_it(tree, tmp_path):
    """Also where they come while the search runs: a search takes longer than the 20 ms after which each of them comes."""
    program = tmp_path / "interrupted.py"
    program.write_text(INTERRUPTED)
    _, done = run(tree, tmp_path, program)
    assert (done.returncode, done.stdout) == (0, "13 13 True True 0\n"), done.stderr
