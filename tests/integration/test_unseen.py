"""The program's own profile and trace functions see the same as without Memoir."""

import collections
import json
import subprocess
import sys

import pytest
from recording import record, run_explicit

PROGRAM = """
import collections, json, sys, threading, torch
events = collections.Counter()
def told(frame, event, argument):
    name = argument.__name__ if event.startswith("c_") else frame.f_code.co_name
    events[f"{event} {name} {frame.f_code.co_filename}:{frame.f_lineno}"] += 1
    return told
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


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot pause profile functions")
@pytest.mark.parametrize("when", ["from_the_first_call_on", "later"])
@pytest.mark.parametrize("follow", ["setprofile", "settrace"])
def test_the_programs_functions_see_the_program_alone(tree, tmp_path, when, follow):
    program, bare, seen = tmp_path / "program.py", tmp_path / "bare.json", tmp_path / "seen.json"
    program.write_text(PROGRAM)
    subprocess.run([sys.executable, program, bare, when, follow], check=True)
    _, done = record(tree, tmp_path, PROGRAM, seen, when, follow)
    assert done.returncode == 0, done.stderr
    events = json.loads(bare.read_text())
    more = collections.Counter(json.loads(seen.read_text()))
    more.subtract(events)
    differences = {name.rpartition("/")[2]: count for name, count in more.items() if count}
    if follow == "settrace":  # an exception that leaves a module's call passes Memoir's `finally`, on the line of the call
        assert len(differences) == 1 and differences.popitem()[1] == 1
    assert sum(events.values()) > 500 and not differences


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
