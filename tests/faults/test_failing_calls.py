"""Each call of Memoir's that can fail fails, once or from then on, while a recording starts, runs and stops: the program runs on, the
recording is whole, has ended or was refused in one line, nothing is left behind, and a second one works. Calls are counted, and those
that fail go up to the last one: every one of them with MEMOIR_TEST_LONG=1, else ever fewer.
"""

import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
LONG = os.environ.get("MEMOIR_TEST_LONG") == "1"
FAILURES = {"malloc": errno.ENOMEM, "new": errno.ENOMEM, "mmap": errno.ENOMEM, "open": errno.EMFILE, "write": errno.ENOSPC, "ftruncate": errno.EIO,
            "fallocate": errno.ENOSPC, "pthread_create": errno.EAGAIN, "close": errno.EIO}
PHASES = ("start", "record", "stop")


class Sweep:
    def __init__(self, tree, folder):
        self.folder, self.tree, self.cases = folder, tree, 0
        library = folder / "failing_calls.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-ftls-model=initial-exec", "-o", library, HERE / "failing_calls.c", "-ldl", "-lgcc_s"], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(tree / "lib" / "memoir" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen([sys.executable, HERE / "sweep.py"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, call, phase, at, forever, number):
        """The answer of one case (sweep.py); None where there was no such call."""
        answer, _ = self.run_and_count(call, phase, at, forever, number, counts=False)
        return answer if answer["calls"] >= at else None

    def run_and_count(self, call, phase, at, forever, number, counts=True):
        """(the answer, also if the call was not made, and the first capture's count of events)."""
        self.cases += 1
        folder = self.folder / f"{self.cases}"
        case = {"call": call, "phase": phase, "at": at, "forever": int(forever), "errno": number, "folder": str(folder)}
        print(json.dumps(case), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        self.check(case, answer, folder)
        summary = self.show(case, folder / "first.memoir") if counts else None
        shutil.rmtree(folder)
        return answer, summary

    def show(self, case, capture):
        shown = subprocess.run([self.tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True)
        assert shown.returncode == 0, (case, shown.stderr)
        return json.loads(shown.stdout)

    def check(self, case, answer, folder):
        assert answer.get("ended") == "0" and "raised" not in answer, (case, answer)
        assert answer["right"], (case, answer)
        for line in answer["problems"] + answer["said"]:
            assert "\n" not in line and not line.endswith("a word"), (case, answer)
        assert len(answer["problems"]) <= 1 and len(answer["said"]) <= 1, (case, answer)
        assert not answer["again"] and not answer["said_again"], (case, answer)
        assert not os.listdir(folder / "here") and not os.listdir(folder / "ring"), (case, os.listdir(folder / "here"), os.listdir(folder / "ring"))
        assert set(os.listdir(folder)) <= {"here", "ring", "said", "first.memoir", "second.memoir"}, case
        for path in folder.glob("*.memoir/*"):
            assert path.name.startswith("r00000.a0.") and path.name.endswith(".memoir"), (case, path.name)
        if LONG or self.cases % 8 == 0:
            operators = self.show(case, folder / "second.memoir")["operators"]
            assert {row["name"]: row["count"] for row in operators}["aten::mul.Tensor"] >= 2, case


@pytest.fixture(scope="module")
def sweep(tree, tmp_path_factory):
    sweep = Sweep(tree, tmp_path_factory.mktemp("sweep"))
    yield sweep
    sweep.process.stdin.close()
    sweep.process.wait()


@pytest.mark.in_turn(always=6)
@pytest.mark.parametrize("forever", [False, True], ids=["once", "from_then_on"])
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("call", FAILURES)
def test_a_call_that_fails(sweep, call, phase, forever):
    at = 1
    while sweep.run(call, phase, at, forever, FAILURES[call]) is not None:
        at += 1 if LONG else at + 1


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("call", ["open", "write", "fallocate", "close"])
def test_a_call_that_is_interrupted_without_end(sweep, call, phase):
    sweep.run(call, phase, 1, True, errno.EINTR)


@pytest.mark.parametrize("call", ["new", "malloc"])
def test_an_operator_for_which_a_hook_has_no_memory_is_counted(sweep, call):
    """Its range is in the capture, if need be without its schema, or among the dropped events."""
    _, whole = sweep.run_and_count(call, "record", 1 << 30, False, 0)
    assert whole["dropped_events"] == 0 and whole["ranges_begun"] > 300, whole
    lacked, at = 0, 1
    while True:
        answer, summary = sweep.run_and_count(call, "record", at, False, FAILURES[call])
        if answer["calls"] < at:
            break
        if not answer["said"]:  # that recording has ended
            missing = whole["ranges_begun"] - summary["ranges_begun"]
            assert missing <= summary["dropped_events"], (at, missing, summary["dropped_events"])
            lacked += summary["operator_calls"] < whole["operator_calls"]
        at += 1 if LONG else 1 + at // 8
    assert lacked > 0, "no hook lacked memory"


def test_the_calls_are_there_to_fail(sweep):
    """Or the sweep tests nothing."""
    for call, phase in (("malloc", "start"), ("new", "start"), ("mmap", "start"), ("open", "start"), ("write", "start"), ("fallocate", "start"),
                        ("pthread_create", "start"), ("close", "start"), ("new", "record"), ("write", "record"), ("new", "stop"), ("write", "stop"),
                        ("close", "stop")):
        answer = sweep.run(call, phase, 1, False, FAILURES[call])
        assert answer is not None, (call, phase)


def test_a_start_that_is_refused_says_why(sweep):
    for call, said in (("new", "out of memory at the start"), ("fallocate", "No space left"), ("pthread_create", "allow the program more threads")):
        answer = sweep.run(call, "start", 1, True, FAILURES[call])
        assert len(answer["problems"]) == 1, answer
        assert call == "fallocate" or said in answer["problems"][0], answer


LATE = '''
import ctypes, sys, time, torch, memoir
from _torch_memoir import _recording
failing = ctypes.CDLL(None)
failing.failing_calls_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
NEW = 2
failing.failing_calls_only_here()  # not those of the writer, which ends the recording
x = torch.ones(1)
memoir.start(sys.argv[1])
torch.add(x, 1)
memoir.pause()
torch.mul(x, 1)
failing.failing_calls_arm(NEW, 1, 1, 0, 0)
memoir.resume()
assert failing.failing_calls_disarm() > 0, "the resume makes no such call"
while memoir.is_recording() and _recording._tracker.memoir_level() != 2:
    time.sleep(0.01)
torch.sub(x, 1)
memoir.stop()
'''


def test_a_resume_that_fails_says_so_and_is_tried_again(sweep, tree, tmp_path):
    environment = {**os.environ, "LD_PRELOAD": str(sweep.folder / "failing_calls.so"), "PYTHONPATH": str(tree / "lib" / "memoir" / "python")}
    done = subprocess.run([sys.executable, "-c", LATE, tmp_path / "capture"], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("memoir: memoir.resume() is late: ") and done.stderr.count("\n") == 1, done.stderr
    shown = subprocess.run([tree / "bin" / "memoir", "show", "--json", tmp_path / "capture"], capture_output=True, text=True, check=True)
    names = {row["name"] for row in json.loads(shown.stdout)["operators"]}
    assert "aten::mul.Tensor" not in names and {"aten::add.Tensor", "aten::sub.Tensor"} <= names, names
