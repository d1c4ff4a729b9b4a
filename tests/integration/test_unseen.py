"""The program's own profile and trace functions see the same as without Memoir."""

import collections
import json
import subprocess
import sys

import pytest
from recording import record, run_explicit, run_memoir

# A trace or profile function of the program: counts what it is called for.
TOLD = """
import collections
events = collections.Counter()
def told(frame, event, argument):
    name = argument.__name__ if event.startswith("c_") else frame.f_code.co_name
    events[f"{event} {name} {frame.f_code.co_filename}:{frame.f_lineno}"] += 1
    return told
"""

PROGRAM = TOLD + """
import json, sys, threading, torch
class Odd(torch.nn.Module):
    def forward(self, x):
        raise ValueError("odd")
model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(4)))
optimizer = torch.optim.Adam(model.parameters())
def steps():
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 8)).sum().backward()
        optimizer.step()
    try:
        Odd()(1)
    except ValueError:
        pass
_, file, when, follow = sys.argv
if when == "later":
    steps()
getattr(sys, follow)(told)
steps()
getattr(sys, follow)(None)
with open(file, "w") as file:
    json.dump(events, file)
"""


def compared(bare, seen):
    """The events without Memoir, and how many more of each there are with it, where that differs."""
    events = json.loads(bare.read_text())
    more = collections.Counter(json.loads(seen.read_text()))
    more.subtract(events)
    return events, {name.rpartition("/")[2]: count for name, count in more.items() if count}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot pause profile functions")
@pytest.mark.parametrize("when", ["from_the_first_call_on", "later"])
@pytest.mark.parametrize("follow", ["setprofile", "settrace"])
def test_the_programs_functions_see_the_program_alone(tree, tmp_path, when, follow):
    program, bare, seen = tmp_path / "program.py", tmp_path / "bare.json", tmp_path / "seen.json"
    program.write_text(PROGRAM)
    subprocess.run([sys.executable, program, bare, when, follow], check=True)
    _, done = record(tree, tmp_path, PROGRAM, seen, when, follow)
    assert done.returncode == 0, done.stderr
    events, differences = compared(bare, seen)
    if follow == "settrace":  # an exception that leaves a module's call passes Memoir's `finally`, on the line of the call
        assert len(differences) == 1 and differences.popitem()[1] == 1
    assert sum(events.values()) > 500 and not differences


JOB = TOLD + """
import atexit, json, os, sys
_, file, follow = sys.argv
def save():
    getattr(sys, follow)(None)
    with open(f"{file}.{'child' if os.getpid() != parent else 'parent'}", "w") as saved:
        json.dump(events, saved)
parent = os.getpid()
atexit.register(save)  # before Memoir's function, so it runs after it
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
getattr(sys, follow)(told)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
child = os.fork()
if child == 0:
    save()
    os._exit(0)
os.waitpid(child, 0)
for _ in range(14):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
dist.destroy_process_group()
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot pause profile functions")
@pytest.mark.parametrize("follow", ["setprofile", "settrace"])
def test_groups_forks_searches_and_the_exit_are_not_seen(tree, tmp_path, follow):
    """Frames of importlib are not compared, because Memoir adds a finder."""
    program, bare, seen = tmp_path / "program.py", tmp_path / "bare", tmp_path / "seen"
    program.write_text(JOB)
    subprocess.run([sys.executable, program, bare, follow], check=True)
    capture, done = record(tree, tmp_path, JOB, seen, follow, options=["--holders"])
    assert done.returncode == 0, done.stderr
    for process in ("parent", "child"):
        events, differences = compared(bare.with_suffix(f".{process}"), seen.with_suffix(f".{process}"))
        assert sum(events.values()) > 500 and not [name for name in differences if "<frozen importlib" not in name]
    assert "memoir.held_by" in run_memoir(tree, "export", "events", capture).stdout  # a search was made


COMPILES = """
import json, sys, torch
files = set()
def told(frame, event, argument):
    files.add(frame.f_code.co_filename)
sys.setprofile(told)
torch.compile(lambda x: (x * 2).sin(), backend="aot_eager")(torch.ones(4))
sys.setprofile(None)
with open(sys.argv[1], "w") as file:
    json.dump(sorted(files), file)
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot pause profile functions")
def test_no_frame_of_memoir_is_seen_while_torch_compiles(tree, tmp_path):
    seen = tmp_path / "seen.json"
    capture, done = record(tree, tmp_path, COMPILES, seen)
    assert done.returncode == 0, done.stderr
    files = json.loads(seen.read_text())
    assert any(file.endswith("torch/_dynamo/convert_frame.py") for file in files)
    assert not [file for file in files if "_torch_memoir" in file or "<memoir>" in file]
    events = run_memoir(tree, "export", "events", capture).stdout
    assert "torch.compile: " in events


PROFILED = """
import sys, torch
from torch._C._profiler import _EventType
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(model.parameters())
def optimizers():
    with torch.profiler.profile(with_stack=True, profile_memory=True, record_shapes=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    found, left = [], list(profiler.profiler.kineto_results.experimental_event_tree())
    while left:
        event = left.pop()
        left += event.children
        if event.tag == _EventType.PyCall and event.typed[1].optimizer is not None:
            found.append(event)
    return len(found)
before = optimizers()
import memoir
memoir.start(sys.argv[1], quiet=True)
print(before, optimizers())
"""


def test_a_profiler_that_ran_before_sees_the_optimizer(tree, tmp_path):
    """torch.profiler remembers the code of torch's function at its first use, and finds the optimizer by it."""
    done = run_explicit(tree, tmp_path, PROFILED, tmp_path / "capture")
    assert (done.returncode, done.stdout) == (0, "1 1\n"), done.stderr
