"""Off and on in a running process (by call, signal and file), and windows of steps and ranges: what is recorded then, and that it sums."""

import pytest

from recording import counts, events, record, run_explicit, run_memoir, show


def switches(tree, capture):
    return [(e["event"], e["level"]) for e in events(tree, capture) if e["event"] in ("pause", "resume")]


def gaps(report):
    return [gap["level"] for gap in report["processes"][0].get("gaps", [])]


def check_sums(report):
    assert report["keyframe_mismatches"] == 0 and report["dropped_events"] == 0
    for device in report["devices"]:
        rows = report[report["by"]]
        for key in ("allocated_bytes", "deallocated_bytes", "allocations"):
            assert device[key] == sum(row[key] for row in rows), key
        # For a window: blocks from before it and from within it, each freed or still live.
        assert (device["live_bytes_at_begin"] + device["allocated_bytes"] - device["deallocated_bytes"]
                == device["live_bytes_at_end"])


BY_CALL = '''
import sys, threading, torch, memoir
a = torch.ones(1000)
kept = [torch.ones(2000)]
for _ in range(3): torch.add(a, 1)
with torch.profiler.record_function("around"):
    memoir.pause()
    for _ in range(5): torch.mul(a, 1)
    thread = threading.Thread(target=torch.mul, args=(a, 1)); thread.start(); thread.join()
    kept.append(torch.ones(3000))
    memoir.resume()
    for _ in range(7): torch.add(a, 1)
kept.append(torch.ones(4000))
memoir.pause(memory=True)
for _ in range(11): torch.mul(a, 1)
kept.append(torch.ones(5000))
del kept[2]
memoir.pause(memory=True)
memoir.resume()
torch.add(a, 1)
assert memoir.is_recording()
del kept
'''


def test_by_call(tree, tmp_path):
    capture, done = record(tree, tmp_path, BY_CALL)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 11 and "aten::mul.Tensor" not in counts(report)
    assert switches(tree, capture) == [("pause", "off"), ("resume", "all"), ("pause", "memory"), ("resume", "all")]
    assert gaps(report) == ["off", "memory"]
    check_sums(report)
    # The vector of 3,000 was allocated while recording was off, the one of 2,000 before: neither is followed.
    assert report["processes"][0]["unknown_bytes"] >= 8000
    assert report["devices"][0]["live_bytes_at_end"] == 0
    text = " ".join(run_memoir(tree, "show", capture).stdout.split())
    assert "recording was off from " in text and "only memory was recorded, no operators, from " in text


def test_in_a_child_and_without_a_recording_nothing_happens(tree, tmp_path):
    program = '''
import os, memoir
memoir.pause(); memoir.resume()
import torch
memoir.start("capture")
memoir.pause()
pid = os.fork()
if pid == 0:
    memoir.resume()
    os._exit(memoir.is_recording())
assert os.waitpid(pid, 0)[1] == 0
assert memoir.is_recording()
memoir.resume(); torch.add(torch.ones(3), 1); memoir.stop()
assert not memoir.is_recording()
memoir.resume()
'''
    done = run_explicit(tree, tmp_path, program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert counts(show(tree, tmp_path / "capture"))["aten::add.Tensor"] == 1


# A request from outside takes effect when the writer next looks; the program waits until it sees that.
UNTIL = '''
import os, signal, sys, time, torch, memoir
from _torch_memoir import _recording
level = lambda: _recording._tracker.memoir_level()
def until(wanted):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if level() == wanted: return
        time.sleep(0.01)
    sys.exit(f"still at level {level()}")
a = torch.ones(10)
'''


def test_by_signal(tree, tmp_path):
    program = UNTIL + '''
torch.add(a, 1)
os.kill(os.getpid(), signal.SIGUSR2); until(0)
torch.mul(a, 1)
os.kill(os.getpid(), signal.SIGUSR2); until(2)
torch.add(a, 1)
'''
    capture, done = record(tree, tmp_path, program, options=["--toggle-signal", "SIGUSR2"])
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(show(tree, capture))["aten::add.Tensor"] == 2
    assert "aten::mul.Tensor" not in counts(show(tree, capture))


def test_a_handler_of_the_program_is_not_displaced(tree, tmp_path):
    program = '''
import os, signal
signal.signal(signal.SIGUSR2, lambda *_: print("mine"))
import torch
os.kill(os.getpid(), signal.SIGUSR2)
torch.add(torch.ones(3), 1)
'''
    capture, done = record(tree, tmp_path, program, options=["--toggle-signal", "USR2"])
    assert done.returncode == 0 and done.stdout == "mine\n"
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: the program uses signal") and "name another one" in line
    assert counts(show(tree, capture))["aten::add.Tensor"] == 1


def test_the_signal_is_the_default_again_in_children_and_after_the_stop(tree, tmp_path):
    program = '''
import os, signal, torch, memoir
memoir.start("capture", toggle_signal="USR1")
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGUSR1)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == signal.SIGUSR1
memoir.stop()
os.kill(os.getpid(), signal.SIGUSR1)
'''
    assert run_explicit(tree, tmp_path, program, cwd=tmp_path).returncode == -10


def test_by_file(tree, tmp_path):
    program = UNTIL + '''
control = os.path.join(memoir.output_dir(), "control")
say = lambda word: os.system(f"echo {word} > {control}")
torch.add(a, 1)
say("off"); until(0)
torch.mul(a, 1)
say("memory"); until(1)
torch.mul(a, 1)
say("on"); until(2)
torch.add(a, 1)
os.remove(control)
os.system(f"touch {control}"); until(0)
os.system(f"touch {control}"); until(2)
os.dup2(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY), 2)
say("perhaps")
end = time.monotonic() + 120
while not os.path.getsize(sys.argv[1]) and time.monotonic() < end: time.sleep(0.01)
torch.add(a, 1)
'''
    capture, done = record(tree, tmp_path, program, tmp_path / "said")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "said").read_text() == f"memoir: {capture}/control contains none of on, off, memory, snapshot and steps N; recording is unchanged\n"
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 3 and "aten::mul.Tensor" not in counts(report)
    check_sums(report)


def test_start_off_and_a_control_file_elsewhere(tree, tmp_path):
    program = UNTIL + '''
torch.mul(a, 1)
open(sys.argv[1], "w").write("on"); until(2)
torch.add(a, 1)
'''
    capture, done = record(tree, tmp_path, program, tmp_path / "switch",
                           options=["--start", "off", "--control", tmp_path / "switch"])
    assert done.returncode == 0, done.stderr
    assert switches(tree, capture) == [("pause", "off"), ("resume", "all")]
    assert counts(show(tree, capture))["aten::add.Tensor"] == 1
    assert "aten::mul.Tensor" not in counts(show(tree, capture))


# Windows. The number of operators identifies the step: step n multiplies n times.
BY_STEP = '''
import torch, memoir
a = torch.ones(1000)
held = []
for number in range(8):
    memoir.step(number)
    for _ in range(2 ** number): torch.mul(a, 2)
    held.append(torch.ones(100 * (number + 1)))
'''
BY_OPTIMIZER = '''
import torch
a = torch.ones(1000)
weight = torch.nn.Parameter(torch.ones(4)); weight.grad = torch.ones(4)
other = torch.optim.Adagrad([weight])
optimizer = torch.optim.SGD([weight], lr=0.1)
for number in range(8):
    for _ in range(2 ** number): torch.mul(a, 2)
    optimizer.step(); other.step()
'''
BY_PROFILER = '''
import torch
a = torch.ones(1000)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                            schedule=torch.profiler.schedule(wait=100, warmup=1, active=1)) as profiler:
    for number in range(8):
        for _ in range(2 ** number): torch.mul(a, 2)
        profiler.step()
'''
BY_RANGE = '''
import torch
a = torch.ones(1000)
for number in range(8):
    with torch.profiler.record_function("work"):
        for _ in range(2 ** number): torch.mul(a, 2)
    torch.add(a, 1)
'''


@pytest.mark.in_turn(always=3)
@pytest.mark.parametrize("program, options, steps", [
    (BY_STEP, ["--steps", "2:5"], {2, 3, 4}),
    (BY_STEP, ["--steps", "0:1"], {0}),
    (BY_STEP, ["--schedule", "skip_first=1,wait=1,warmup=1,active=1,repeat=2"], {3, 6}),
    (BY_OPTIMIZER, ["--steps", "2:4"], {2, 3}),
    (BY_PROFILER, ["--steps", "3:4"], {3}),
    (BY_RANGE, ["--range", "work"], set(range(8))),
    (BY_RANGE, ["--range", "work#5"], {5}),
], ids=["steps", "from the first step", "schedule", "optimizer", "profiler", "range", "one call of a range"])
def test_windows(tree, tmp_path, program, options, steps):
    capture, done = record(tree, tmp_path, program, options=options)
    assert (done.returncode, done.stderr) == (0, "")
    report = show(tree, capture)
    assert counts(report)["aten::mul.Tensor"] == sum(2 ** step for step in steps)
    assert "aten::add.Tensor" not in counts(report)
    assert set(gaps(report)) == {"memory"}
    check_sums(report)


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("program, steps, kind", [
    (BY_STEP, "3:6", "step"), (BY_OPTIMIZER, "2:4", "optimizer_step"), (BY_OPTIMIZER, "0:2", "optimizer_step"), (BY_PROFILER, "3:5", "profiler_step"),
], ids=["steps", "optimizer", "from the start", "profiler"])
def test_a_window_is_the_same_in_a_recording_of_the_window_alone(tree, tmp_path, program, steps, kind):
    whole, window = tmp_path / "whole", tmp_path / "window"
    whole.mkdir(), window.mkdir()
    reports = []
    for folder, options in ((whole, []), (window, ["--steps", steps])):
        capture, done = record(tree, folder, program, options=options)
        assert done.returncode == 0, done.stderr
        reports.append(show(tree, capture, "--steps", steps))
    first, last = map(int, steps.split(":"))
    assert reports[0]["step_kind"] == kind and reports[0]["step_count"] == last - first
    for report in reports:
        check_sums(report)
        assert report["devices"][0]["live_bytes_at_begin"] > 2400 or program != BY_STEP  # what steps 0 to 2 left
        assert counts(report)["aten::mul.Tensor"] == sum(2 ** step for step in range(first, last))
    for key in ("live_bytes_at_begin", "live_bytes_at_end", "allocated_bytes", "peak_allocated_bytes", "unattributed_bytes"):
        assert reports[0]["devices"][0][key] == reports[1]["devices"][0][key], key
    # Who allocated what was live before is not recorded outside of the window.
    named = [{row["name"]: row["count"] for row in report["operators"] if row["kind"] == "named"} for report in reports]
    assert named[0] == named[1]


def test_the_range_that_opens_a_window_is_recorded_itself(tree, tmp_path):
    capture, done = record(tree, tmp_path, BY_RANGE, options=["--range", "work#2"])
    assert done.returncode == 0, done.stderr
    report = show(tree, capture, "--range", "work")
    assert counts(report)["aten::mul.Tensor"] == 4


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("options, complaint", [
    ({"steps": "5:2"}, "steps=5:2: write A:B"),
    ({"schedule": "wait=1"}, "schedule=wait=1: write wait=1"),
    ({"start": "later"}, "start=later: write on, memory or off"),
    ({"toggle_signal": "KILL"}, "toggle_signal=KILL is no signal"),
    ({"steps": "1:2", "range": "x"}, "give one of them"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_means_nothing_is_refused(tree, tmp_path, options, complaint):
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    done = run_explicit(tree, tmp_path, f"import memoir\nmemoir.start('capture', {arguments})\n", cwd=tmp_path)
    assert done.returncode == 1 and complaint in done.stderr
    assert not (tmp_path / "capture").exists()
