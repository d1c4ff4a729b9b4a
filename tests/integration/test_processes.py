"""fork, _Fork, threads and exits while recording: no deadlock, no stranger's events, nothing lost."""

import subprocess
import sys

import pytest

from recording import counts, record, run_explicit, run_memoir, show

FORK = '''
import ctypes, os, sys, threading, torch
torch.set_num_threads(1)
libc = ctypes.CDLL(None)
a = torch.ones(4)
busy = threading.Event()
def churn():
    while not busy.is_set():
        torch.neg(a)
torch.neg(a)
thread = threading.Thread(target=churn)
if sys.argv[1] == "fork": thread.start()    # after _Fork, malloc's locks may be held for ever by threads that are not there
for _ in range(50):
    torch.add(a, a)
    child = os.fork() if sys.argv[1] == "fork" else libc._Fork()
    if child == 0:
        for _ in range(20):
            torch.mul(a, a)      # must not appear
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
busy.set()
if sys.argv[1] == "fork": thread.join()
'''


@pytest.mark.parametrize("how", ["fork", "_Fork"])
def test_children_leave_no_trace(tree, tmp_path, how):
    capture, done = record(tree, tmp_path, FORK, how)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert len(list(capture.glob("*.memoir"))) == 1
    assert counts(report)["aten::add.Tensor"] == 50
    assert counts(report)["aten::neg"] > 0
    assert "aten::mul.Tensor" not in counts(report)
    assert report["dropped_events"] == 0


CHILD_RUNS_ON = '''
import os, torch
a = torch.ones(4)
torch.add(a, a)
if os.fork() == 0:
    torch.mul(a, a)             # leaves by the interpreter's ordinary exit, with our exit handler inherited
else:
    os.wait()
    torch.add(a, a)
'''


def test_child_that_exits_in_order_does_not_end_the_recording(tree, tmp_path):
    capture, done = record(tree, tmp_path, CHILD_RUNS_ON)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 2 and "aten::mul.Tensor" not in counts(report)


EXITS = '''
import os, signal, sys, torch
a = torch.ones(4)
for _ in range(1000):
    torch.add(a, a)
how = sys.argv[1]
if how == "os._exit": os._exit(5)
if how == "exception": raise ValueError("on purpose")
if how == "abort": os.abort()
if how == "exec": os.execv("/bin/true", ["true"])
'''


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("how,code", [("os._exit", 5), ("exception", 1), ("abort", -6), ("exec", 0), ("end", 0)])
def test_every_way_out_keeps_everything(tree, tmp_path, how, code):
    capture, done = record(tree, tmp_path, EXITS, how)
    assert done.returncode == code
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 1000
    assert report["dropped_events"] == 0
    shown = subprocess.run([tree / "bin" / "memoir", "show", capture], capture_output=True, text=True, check=True).stdout
    assert ("ended by an uncaught ValueError: on purpose" in " ".join(shown.split())) == (how == "exception")
    assert report["processes"][0]["end_message"] == ("ValueError: on purpose" if how == "exception" else "")


def test_an_exception_that_cannot_be_printed(tree, tmp_path):
    odd = """
import torch
class Odd(Exception):
    def __str__(self): raise KeyError(self)
torch.ones(4)
raise Odd
"""
    capture, done = record(tree, tmp_path, odd)
    assert done.returncode == 1 and show(tree, capture)["processes"][0]["end_message"] == "Odd"


LIVE_THREADS = '''
import sys, threading, torch
torch.set_num_threads(1)
threading.stack_size(256 << 10)
count = int(sys.argv[1])
a, all_are_here = torch.ones(4), threading.Barrier(count)
def work():
    torch.add(a, 1)
    all_are_here.wait()
    for _ in range(20): torch.add(a, 1)
    all_are_here.wait()
threads = [threading.Thread(target=work) for _ in range(count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
'''


@pytest.mark.parametrize("count", [100, 2000])
def test_threads_that_live_at_the_same_time_lose_nothing(tree, tmp_path, count):
    capture, done = record(tree, tmp_path, LIVE_THREADS, count)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 21 * count and report["dropped_events"] == 0


THREADS = '''
import threading, torch
torch.set_num_threads(1)
a = torch.ones(4)
for _ in range(100):
    threads = [threading.Thread(target=lambda: torch.add(a, a)) for _ in range(100)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
'''


def test_ten_thousand_short_threads(tree, tmp_path):
    capture, done = record(tree, tmp_path, THREADS)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 10_000
    assert sum(row["allocations"] for row in show(tree, capture, "--by", "thread")["threads"]) >= 10_000
    assert report["dropped_events"] == 0



UNRECORDED = '''
import os, shutil, sys, torch, memoir
torch.set_num_threads(1)
if len(sys.argv) > 2: memoir.start(sys.argv[2], ring_dir=sys.argv[1])
torch.ones(3)
shutil.rmtree(sys.argv[1])             # from here on there is no place for a ring
for how in ("step", "group"):
    if os.fork() == 0:
        if how == "step": memoir.step(0); memoir.step(1)
        else: torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        os._exit(0)
for _ in range(2): assert os.wait()[1] == 0
'''


def test_children_that_cannot_be_recorded_say_so_once(tree, tmp_path, monkeypatch):
    """`memoir run` prints the line for all of them; without it, each process prints its own, also if the environment names a folder. There is no other output,
    and no file is left."""
    rings = tmp_path / "rings"
    rings.mkdir()
    _, done = record(tree, tmp_path, UNRECORDED, rings, options=["--ring-dir", rings])
    assert done.returncode == 0 and done.stderr.count("memoir: ") == done.stderr.count("memoir: not recording: ") == 1 and "rings" in done.stderr, done.stderr
    rings.mkdir()
    monkeypatch.setenv("MEMOIR_OUTPUT", str(tmp_path / "explicit"))
    done = run_explicit(tree, tmp_path, UNRECORDED, rings, tmp_path / "explicit")
    assert done.returncode == 0 and done.stderr.count("memoir: ") == done.stderr.count("memoir: not recording: ") == 2, done.stderr
    assert not [path.name for folder in tmp_path.iterdir() if folder.is_dir() for path in folder.iterdir() if path.suffix != ".memoir"]


PACKAGE = "import torch; torch.ones(3)"


@pytest.mark.parametrize(("file", "options"), [("__init__.py", ["-m"]), ("__main__.py", ["-m"]), ("__init__.py", ["-um"]), ("__init__.py", ["-W", "ignore", "-m"])])
def test_a_package_that_python_runs_has_its_own_name(tree, tmp_path, file, options):
    """`python -m pytest` is pytest, also where the package imports torch before Python has found what to run."""
    package = tmp_path / "trainer"
    package.mkdir()
    for each in ("__init__.py", "__main__.py"):
        (package / each).write_text(PACKAGE if each == file else "")
    done = run_memoir(tree, "run", "-q", "-o", "capture", "--", sys.executable, *options, "trainer", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [one["program"] for one in show(tree, tmp_path / "capture")["processes"]] == ["trainer"]


ONLY_A_CHILD = """
import os, torch
if os.fork() == 0:
    torch.ones(3)
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize(
    "command, code, cause",
    [
        ((sys.executable, "only_a_child.py"), 0, ""),
        (("sh", "-c", f"{sys.executable} only_a_child.py; exit 7"), 7, ""),
        (("sh", "-c", f"{sys.executable} only_a_child.py; kill $$"), -15, "signal 15 (Terminated) ended sh; "),
    ],
)
def test_a_forked_child_that_does_not_train_is_no_program_without_torch(tree, tmp_path, command, code, cause):
    (tmp_path / "only_a_child.py").write_text(ONLY_A_CHILD)
    done = run_memoir(tree, "run", "-o", tmp_path / "capture", "--", *command, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, (
        f"memoir: nothing was recorded: {cause}no process imported torch and ran an operator. A forked child is recorded from its first backward pass on: "
        "if only such a child ran operators, call memoir.start() in it (memoir doctor checks the rest)\n"))
