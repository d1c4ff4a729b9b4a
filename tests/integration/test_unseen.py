"""What the program's own profile function is told of is what it is told of without Memoir."""

import collections
import json
import subprocess
import sys

import pytest
from recording import record

PROGRAM = """
import collections, json, sys, threading, torch
events = collections.Counter()
def told(frame, event, argument):
    events[f"{event} {argument.__name__ if event.startswith('c_') else frame.f_code.co_name}"] += 1
model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(4)))
optimizer = torch.optim.Adam(model.parameters())
def steps():
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 8)).sum().backward()
        optimizer.step()
if sys.argv[2] == "later":
    steps()
sys.setprofile(told)
steps()
sys.setprofile(None)
with open(sys.argv[1], "w") as file:
    json.dump(events, file)
"""
MODULE_CALLS, STEPS = 15, 3
# Frames that torch's compiler has to meet, so that it sees torch's own functions (decision 7); no work of Memoir's is in them.
KNOWN = {"is_dynamo_compiling": MODULE_CALLS + STEPS, "_optimizer_step_code": STEPS}
NAMED = {"resolve": 1}  # of each tree of modules


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot pause profile functions")
@pytest.mark.parametrize("when", ["from_the_first_call_on", "later"])
def test_a_profile_function_sees_the_program(tree, tmp_path, when):
    program, bare, seen = tmp_path / "bare.py", tmp_path / "bare.json", tmp_path / "seen.json"
    program.write_text(PROGRAM)
    subprocess.run([sys.executable, program, bare, when], check=True)
    _, done = record(tree, tmp_path, PROGRAM, seen, when)
    assert done.returncode == 0, done.stderr
    more = collections.Counter(json.loads(seen.read_text()))
    more.subtract(json.loads(bare.read_text()))
    known = KNOWN if when == "later" else KNOWN | NAMED
    assert {name: count for name, count in more.items() if count} == {f"{event} {name}": count for name, count in known.items() for event in ("call", "return")}
