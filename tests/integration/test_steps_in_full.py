"""Steps that are asked for in full while a program runs, by the control file and by a key of memoir live: these, no others, and then as before."""

import json

import pytest

from recording import counts, each_event, record, show
from watched import Training, on_terminal, wait_until

# Step n multiplies once. It prints which steps had operators: from the one in which its request took effect to the one after it.
ASKS = """
import os, sys, time, torch, memoir
from _torch_memoir import _recording
level = lambda: _recording._tracker.memoir_level()
a = torch.ones(1000)
weight = torch.nn.Parameter(torch.ones(4)); weight.grad = torch.ones(4)
optimizer = torch.optim.SGD([weight], lr=0.1)
levels = []
def step():
    if "optimizer" in sys.argv:
        torch.mul(a, 2)
        optimizer.step()
        levels.append(level())
    else:
        memoir.step(len(levels))
        levels.append(level())
        torch.mul(a, 2)
def until(holds):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        step()
        if holds(levels[-1]): return
        time.sleep(0.005)
    sys.exit(f"still at level {levels[-1]}")
until(lambda level: level < 2)
rest = levels[-1]
open(os.path.join(memoir.output_dir(), "control"), "w").write("steps 3\\n")
until(lambda level: level == 2)
first = len(levels) - 1
until(lambda level: level < 2)
for _ in range(3): step()
assert levels[-4:] == [rest] * 4, levels
print(first, len(levels) - 4)
"""


def asked_marks(tree, capture):
    return [event["name"] for event in each_event(tree, capture) if event["event"] == "mark"]


@pytest.mark.parametrize("options", [("--detail", "blocks"), ("--detail", "auto"), ("--start", "off"), ("--steps", "100000:100001")], ids=" ".join)
def test_by_the_control_file(tree, tmp_path, options):
    capture, done = record(tree, tmp_path, ASKS, options=options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    first, behind = map(int, done.stdout.split())
    assert behind - first == 3
    for step in range(first, behind + 1) if "off" in options else range(first - 1, behind + 2):
        report = show(tree, capture, "--steps", f"{step}:{step + 1}")
        assert counts(report).get("aten::mul.Tensor", 0) == (first <= step < behind and 1), step
    whole = show(tree, capture)
    assert whole["dropped_events"] == whole["keyframe_mismatches"] == 0 and whole["marks"] == []
    if "auto" not in options:
        assert counts(whole)["aten::mul.Tensor"] == 3
    assert asked_marks(tree, capture) == [f"memoir.steps_in_full 3 {first}", "memoir.steps_in_full 0"]


def test_of_an_optimizer_whose_steps_nobody_followed(tree, tmp_path):
    capture, done = record(tree, tmp_path, ASKS, "optimizer", options=("--detail", "blocks"))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert counts(show(tree, capture))["aten::mul.Tensor"] == 3
    assert show(tree, capture, "--steps", "0:3")["step_kind"] == "optimizer_step"
    assert asked_marks(tree, capture) == ["memoir.steps_in_full 3", "memoir.steps_in_full 0"]


def look(training):
    return json.loads(training.live("--once", "--json").stdout)["processes"][0]


def test_by_a_key(tree, tmp_path):
    with Training(tree, tmp_path) as program:
        with on_terminal(program, columns=200) as terminal:
            terminal.wait_for("w 3 steps in full")
            terminal.key("2")
            terminal.wait_for("w 2 steps in full")
            terminal.key("w")
            terminal.wait_for("2 steps in full are asked for, from the next step on")
            terminal.wait_for("were recorded in full: memoir show --steps ")
            asked = look(program)["asked_steps"]
            first = asked["first"]
            assert asked == {"steps": 2, "first": first, "begun": 2, "open": False}
            assert f"steps {first:,} to {first + 1:,} were recorded in full: memoir show --steps {first}:{first + 2} {program.capture}" in terminal.read()
            terminal.key("w")
            wait_until(lambda: look(program)["asked_steps"]["steps"] == 3)
            terminal.key("q")
            assert terminal.end() == 0
        output, errors = program.finish()
        assert output == "trained to the end\n" and errors == ""
    assert show(tree, program.capture, "--steps", f"{first}:{first + 2}")["step_count"] == 2


# Its steps are ordinary work: nothing in it marks where one begins.
NO_STEPS = """
import os, sys, time, torch
end = time.time() + 1500
while not os.path.exists(sys.argv[1]) and time.time() < end:
    torch.ones(1000).mul(2)
    time.sleep(0.01)
"""


def test_of_a_program_without_steps(tree, tmp_path):
    with Training(tree, tmp_path, source=NO_STEPS) as program, on_terminal(program, columns=200) as terminal:
        terminal.key("w")
        terminal.wait_for("3 steps in full are asked for, but no step has begun so far")
        program.done.touch()
        terminal.wait_for("the program ended before a step began; none was recorded in full")
        wait_until(lambda: terminal.read() is not None and terminal.live.poll() is not None)
        assert look(program)["asked_steps"] is None
