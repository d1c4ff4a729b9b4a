"""Programs in C++ that record themselves with memoir.hpp: no `memoir run`, no Python, no Memoir linked. Each error is one line, and the program runs on."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
import torch
from recording import counts, events, record, run_memoir, show

MINOR = ".".join(torch.__version__.split(".")[:2])


@pytest.fixture
def run(tree, built, clean, tmp_path):
    """run(case, folder=..., home=...): libtorch_sessions; the finished process."""

    def run(case, folder=tmp_path / "capture", home=tree, before=(), **variables):
        environment = clean(**variables, **({"MEMOIR_HOME": str(home)} if home else {}))
        return subprocess.run([*before, built("libtorch_sessions"), case, folder], env=environment, capture_output=True, text=True, timeout=300)

    return run


def test_steps_marks_and_ranges(tree, run, tmp_path):
    done = run("one")
    assert (done.returncode, done.stdout, done.stderr) == (0, "unharmed\n", "")
    report = show(tree, tmp_path / "capture")
    assert counts(report)["aten::add.Tensor"] == 2 * 3 and counts(report)["aten::ones"] == 2 and report["step_count"] == 2
    assert [event["step"] for event in events(tree, tmp_path / "capture") if event["event"] == "step"] == [0, 1]
    assert [event["name"] for event in events(tree, tmp_path / "capture") if event["event"] == "mark"] == ["worked"]
    assert counts(show(tree, tmp_path / "capture", "--range", "validation"))["aten::add.Tensor"] == 3
    process, = report["processes"]
    assert process["program"] == "libtorch_sessions" and process["end"] == "stopped"


def test_a_second_one_does_not_record(tree, run, tmp_path):
    done = run("twice")
    taken = f"this process is being recorded already, into {tmp_path}/capture; stop that first, or do not start here"
    assert done.stdout == f"first: ok\nsecond: {taken}\nend of the second: {taken}\nend: ok\nunharmed\n"
    assert (done.returncode, done.stderr) == (0, f"memoir: not recording: {taken}\n")
    assert counts(show(tree, tmp_path / "capture"))["aten::ones"] == 1 and not (tmp_path / "capture-other").exists()


def test_ended_twice(tree, run, tmp_path):
    done = run("ended-twice")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end: ok\nagain: this session has ended already\nunharmed\n", "")
    assert counts(show(tree, tmp_path / "capture"))["aten::ones"] == 1


def test_one_after_the_other(tree, run, tmp_path):
    done = run("in-turn")
    assert (done.returncode, done.stdout, done.stderr) == (0, "unharmed\n", "")
    assert [counts(show(tree, tmp_path / f"capture-{number}"))["aten::ones"] for number in (1, 2)] == [1, 1]


def test_an_option_that_does_not_exist(run, tmp_path):
    done = run("option")
    problem = 'unknown setting "max_sise"; did you mean max_size?'
    assert (done.returncode, done.stdout, done.stderr) == (0, f"start: {problem}\nunharmed\n", f"memoir: not recording: {problem}\n")
    assert not (tmp_path / "capture").exists()


def test_an_exception_through_it(tree, run, tmp_path):
    done = run("exception")
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught: of the program\nunharmed\n", "")
    report = show(tree, tmp_path / "capture")
    assert counts(report)["aten::ones"] == 1 and report["processes"][0]["end"] == "stopped"
    assert [event["name"] for event in events(tree, tmp_path / "capture") if event["event"] == "mark"] == ["exception"]


def test_an_exception_that_nobody_catches(tree, run, tmp_path):
    """The program dies as it would without Memoir, and all of it is in the capture."""
    done = run("uncaught")
    assert done.returncode == -6 and done.stderr.startswith("terminate called") and "memoir" not in done.stderr, done.stderr
    shown = run_memoir(tree, "show", tmp_path / "capture")
    assert shown.returncode == 0 and "aten::ones" in shown.stdout, shown.stderr


def test_exit_with_a_session_open(tree, run, tmp_path):
    done = run("exit")
    assert (done.returncode, done.stdout, done.stderr) == (0, "unharmed\n", "")
    report = show(tree, tmp_path / "capture")
    assert counts(report)["aten::ones"] == 1 and report["processes"][0]["end"] == "exited"


def test_a_fork(tree, run, tmp_path):
    done = run("fork")
    assert done.stdout == "end in the child: ok\nthe child's own: ok\nchild: 0\nend: ok\nunharmed\n", done
    assert (done.returncode, done.stderr) == (0, "")
    assert counts(show(tree, tmp_path / "capture"))["aten::ones"] == 2, "the parent's, before and after"
    assert counts(show(tree, tmp_path / "capture-child"))["aten::ones"] == 1


def test_under_memoir_run(tree, built, clean, tmp_path):
    """Recorded once, from outside; the session's steps and marks are in that recording."""
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "outer", "--", built("libtorch_sessions"), "one", tmp_path / "inner", env=clean())
    assert (done.returncode, done.stdout) == (0, "unharmed\n")
    assert done.stderr == f"memoir: Session ignored: this process is being recorded already, into {tmp_path}/outer\n"
    assert not (tmp_path / "inner").exists() and show(tree, tmp_path / "outer")["step_count"] == 2
    assert counts(show(tree, tmp_path / "outer", "--range", "validation"))["aten::add.Tensor"] == 3


@pytest.mark.parametrize("blocked", ["a file", "read-only"])
def test_a_folder_that_cannot_be_written(run, tmp_path, blocked):
    if blocked == "a file":
        (tmp_path / "in the way").write_text("")
        folder = tmp_path / "in the way" / "capture"
    else:
        folder = "/proc/capture"
    done = run("one", folder=folder)
    assert (done.returncode, done.stdout) == (0, "not recording\nunharmed\n")
    assert done.stderr.startswith("memoir: not recording: ") and str(folder) in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_memoir_is_not_found(run):
    done = run("one", home=None)
    assert (done.returncode, done.stdout) == (0, "not recording\nunharmed\n")
    assert done.stderr == ("memoir: not recording: libmemoir_interpose.so: cannot open shared object file: No such file or directory; "
                           "set MEMOIR_HOME to the folder in which Memoir is installed\n")


def test_a_home_without_memoir(run, tmp_path):
    done = run("one", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "not recording\nunharmed\n")
    assert done.stderr.startswith(f"memoir: not recording: MEMOIR_HOME={tmp_path} has no Memoir: ") and done.stderr.count("\n") == 1, done.stderr


def test_no_tracker_for_this_torch(tree, run, tmp_path):
    other = tmp_path / "tree"
    shutil.copytree(tree, other, symlinks=True, ignore=shutil.ignore_patterns("libmemoir_tracker-*"))
    done = run("one", home=other)
    missing = f"{other}/lib/memoir/libmemoir_tracker-torch{MINOR}.so"
    assert (done.returncode, done.stdout) == (0, "not recording\nunharmed\n")
    assert done.stderr == f"memoir: not recording: no tracker for torch {MINOR}: {missing} is missing; build Memoir for that torch\n"


EXTENSION = """
#include <memoir.hpp>
extern "C" __attribute__((visibility("default"))) int tell() {
  memoir::Step(7);
  const memoir::Range range("in C++");
  memoir::Mark("from C++");
  return memoir::IsRecording() ? 1 : 0;
}
"""
CALLS_IT = """
import ctypes, sys, torch
told = ctypes.CDLL(sys.argv[1]).tell()
torch.ones(10)
print(told)
"""


def test_an_extension_of_a_python_program(tree, clean, tmp_path):
    """It finds the recording that the Python package runs, without starting a session."""
    (tmp_path / "extension.cc").write_text(EXTENSION)
    command = ["c++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", tmp_path / "extension.cc", "-o", tmp_path / "extension.so", f"-I{tree}/include"]
    subprocess.run(command, check=True)
    capture, done = record(tree, tmp_path, CALLS_IT, tmp_path / "extension.so", env=clean())
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert [event.get("name", event.get("step")) for event in events(tree, capture) if event["event"] in ("mark", "step")] == [7, "from C++"]
    program = tmp_path / "program.py"
    done = subprocess.run([sys.executable, program, tmp_path / "extension.so"], env=clean(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", ""), "and does nothing where there is none"


NO_TORCH = """
#include <memoir.hpp>
int main() { memoir::Session session; memoir::Step(); memoir::Mark("x"); return session.ok() ? 1 : 0; }
"""


@pytest.fixture
def without_torch(tree, tmp_path):
    (tmp_path / "program.cc").write_text(NO_TORCH)
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", f"-I{tree}/include", "-ldl"]
    subprocess.run(["c++", tmp_path / "program.cc", "-o", tmp_path / "program", *flags], check=True)
    return tmp_path / "program"


def test_a_program_without_torch(tree, clean, without_torch):
    done = subprocess.run([without_torch], env=clean(MEMOIR_HOME=str(tree)), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        0, "memoir: not recording: this program has not loaded libtorch_cpu.so; link libtorch's shared libraries, or start later\n")


def test_a_setuid_program_takes_no_library_from_its_user(clean, without_torch):
    """MEMOIR_HOME is the user's word, and the program has more rights than the user."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root makes a program that runs as root for another user, with setpriv")
    with tempfile.TemporaryDirectory() as folder:  # one that the other user may enter
        os.chmod(folder, 0o755)
        program = pathlib.Path(shutil.copy(without_torch, folder))
        os.chmod(program, 0o4755)
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
        done = subprocess.run(command, env=clean(MEMOIR_HOME="/nowhere"), capture_output=True, text=True, cwd="/")
    assert done.returncode == 0 and done.stderr.startswith("memoir: not recording: libmemoir_interpose.so: cannot open"), done
