"""Processes that end without stopping leave their rings; other recording processes, at the same time or later, merge them."""

import json
import os
import signal
import subprocess
import sys

import pytest

from recording import counts, run_explicit, run_memoir, show

# Each child records because it trains, and leaves with os._exit, as workers of a pool may. At most the ring of the newest dead child may be left.
CHILDREN = '''
import os, sys, time, torch, memoir
torch.set_num_threads(1)
folder = sys.argv[1]
w = torch.ones(3, requires_grad=True)
def rings(): return len(os.listdir(folder + "/rings"))
def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, os.listdir(folder + "/rings")
        time.sleep(0.02)
os.environ["MEMOIR_RING_DIR"] = folder + "/rings"
memoir.start(folder + "/capture", ring_size="2MiB")
for child in range(5):
    pid = os.fork()
    if pid == 0:
        (w * 2).sum().backward()
        torch.neg(w)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
wait_for(lambda: rings() == 1)                  # this process's own
try: os.waitpid(-1, os.WNOHANG); raise SystemExit("there is a child that this program did not make")
except ChildProcessError: pass
torch.abs(w)
memoir.stop()
assert rings() == 0
'''


def test_children_that_end_without_a_word(tree, tmp_path):
    (tmp_path / "rings").mkdir()
    done = run_explicit(tree, tmp_path, CHILDREN, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = show(tree, tmp_path / "capture")
    assert sorted(process["end"] for process in report["processes"]) == ["merged"] * 5 + ["stopped"]
    assert counts(report)["aten::neg"] == 5 and counts(report)["aten::abs"] == 1 and report["dropped_events"] == 0


KILLED = '''
import os, signal, sys, torch, memoir
torch.set_num_threads(1)
memoir.start(sys.argv[1] + "/killed", ring_dir=sys.argv[1] + "/rings", ring_size="2MiB")
torch.add(torch.ones(3), 1)
os.kill(os.getpid(), signal.SIGKILL)
'''


@pytest.fixture
def killed(tree, tmp_path):
    (tmp_path / "rings").mkdir()
    done = run_explicit(tree, tmp_path, KILLED, tmp_path)
    assert done.returncode == -signal.SIGKILL
    ring, = (tmp_path / "rings").iterdir()
    return ring


def test_doctor_names_and_cleans_them(tree, tmp_path, killed):
    def doctor(*options):
        environment = {**os.environ, "MEMOIR_RING_DIR": str(tmp_path / "rings"), "TMPDIR": str(tmp_path)}
        done = run_memoir(tree, "doctor", "--json", "--python", sys.executable, *options, env=environment)
        return [check for check in json.loads(done.stdout)["checks"] if check["subject"] == "dead ring" and str(tmp_path) in check["finding"]]

    check, = doctor()
    assert check["level"] == "note" and check["finding"].startswith(str(killed)) and check["finding"].endswith(f"not yet in {tmp_path}/killed")
    check, = doctor("--clean")
    assert check == {"level": "ok", "subject": "dead ring", "finding": f"{killed} was merged into {tmp_path}/killed", "fix": ""}
    assert not killed.exists() and doctor() == []
    assert counts(show(tree, tmp_path / "killed"))["aten::add.Tensor"] == 1


def test_nobody_waits_for_the_dead_process(tree, tmp_path):
    """The merge does not need the dead process to be reaped, which may never happen in a container."""
    (tmp_path / "rings").mkdir()
    (tmp_path / "program.py").write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": str(tree / "lib" / "memoir" / "python")}
    process = subprocess.Popen([sys.executable, tmp_path / "program.py", tmp_path], env=environment)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    report = show(tree, tmp_path / "killed")
    assert counts(report)["aten::add.Tensor"] == 1 and report["processes"][0]["end"] == "merged"
    assert not os.listdir(tmp_path / "rings")
    assert process.wait() == -signal.SIGKILL


def test_a_capture_whose_parts_were_removed(tree, tmp_path):
    """The process is killed after its part was removed: its ring still has the events, and `memoir run` does not print that nothing was recorded."""
    program = tmp_path / "program.py"
    program.write_text('''
import os, signal, torch, memoir
torch.set_num_threads(1)
torch.add(torch.ones(3), 1)
memoir.flush()
os.remove([os.path.join(os.environ["MEMOIR_OUTPUT"], name) for name in os.listdir(os.environ["MEMOIR_OUTPUT"]) if name.endswith(".memoir")][0])
os.kill(os.getpid(), signal.SIGKILL)
''')
    done = run_memoir(tree, "run", "-o", tmp_path / "capture", "--", sys.executable, program)
    assert done.returncode == -signal.SIGKILL
    assert "nothing was recorded" not in done.stderr, done.stderr
    report = show(tree, tmp_path / "capture")
    assert counts(report)["aten::add.Tensor"] == 1 and report["lost_records"] == 0


REMOVED = '''
import os, shutil, sys, torch, memoir
torch.set_num_threads(1)
a = torch.ones(3)
for _ in range(100): torch.add(a, a)
memoir.flush()
output = os.environ["MEMOIR_OUTPUT"]
if sys.argv[1] == "folder": shutil.rmtree(output)
else: os.remove([os.path.join(output, name) for name in os.listdir(output) if name.endswith(".memoir")][0])
for _ in range(10): torch.mul(a, a)
'''


@pytest.mark.parametrize("what", ["part", "folder"])
def test_what_is_removed_during_the_recording(tree, tmp_path, what):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(REMOVED)
    done = run_memoir(tree, "run", "-o", capture, "--", sys.executable, program, what)
    assert done.returncode == 0
    assert "nothing was recorded" not in done.stderr
    said = done.stderr.splitlines()[0]
    assert said.startswith("memoir: ") and " events could not be written: " in said
    if what == "folder":
        assert said.endswith("its folder was removed during the recording") and not capture.exists()
        assert done.stderr.splitlines()[1:] == [f"memoir: nothing is left of the recording: {capture} was removed while the command ran"]
    else:
        assert said.endswith("p0000.memoir was removed while it was written")
        report = show(tree, capture)
        # The next part begins with the sums of all earlier parts: their calls are counted, but their events are lost.
        assert counts(report)["aten::mul.Tensor"] == 10 and report["dropped_events"] > 100
