"""Interpreters with unknown frames, made from this one: one line reports it and all else is recorded. And a stripped one, which works like any other."""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

from python_calls import CALLS
from recording import counts, events, run_memoir, show

PROGRAM = '''
import sys, torch
layer = torch.nn.Linear(4, 4)
def work(): return layer(torch.ones(2, 4)).sum()
work().backward()
if sys.argv[1:]: print([line.split()[-1] for line in open("/proc/self/maps") if sys.argv[1] in line][0])
'''

# A library that is loaded before Python's own has these in its place, for who asks the loader; Python itself does not.
ODD = {
    "a version that is not known": ("const unsigned long Py_Version = 0x030f02f0;", "Python 3.15.2: frames can be read in 3.10 to 3.14"),
    "a debug build": ("void _Py_NegativeRefcount(void) {}", f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}: a debug build"),
}


def record(tree, folder, *arguments, options=(), **environment):
    folder.mkdir()
    program, capture = folder / "program.py", folder / "capture"
    program.write_text(PROGRAM)
    command = ["run", "-o", capture, *options, "--", sys.executable, program, *arguments]
    done = run_memoir(tree, *command, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return capture, done


def refusals(done):
    """The lines without the summary at its end."""
    return [line.removeprefix("memoir: ") for line in done.stderr.splitlines() if "not recorded" in line and "! " not in line]


def check_all_but_stacks(tree, capture):
    report = show(tree, capture)
    assert report["dropped_events"] == 0 and counts(report)["aten::linear"] == 1
    modules = show(tree, capture, "--by", "module")["modules"]
    assert any(row["class"] == "Linear" and row["allocated_bytes"] for row in modules if row["kind"] == "named")
    assert not [event for event in events(tree, capture) if event["event"] in ("stack", "call_begin")]
    assert "(no Python line)" in run_memoir(tree, "show", "--by", "line", capture).stdout


@pytest.mark.parametrize("what", ODD)
def test_what_is_not_known_is_refused_in_one_line(tree, tmp_path, what):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to build a library with")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("this interpreter is no library, and comes before any other")
    (source, why), library = ODD[what], tmp_path / "odd.so"
    (tmp_path / "odd.c").write_text(source + "\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "odd.c"], check=True)
    preload = {"LD_PRELOAD": str(library)}
    line = f"Python stacks are not recorded: {why}; --stacks off hides this line"
    capture, done = record(tree, tmp_path / "stacks", **preload)
    assert refusals(done) == [line]
    check_all_but_stacks(tree, capture)
    assert f"the end: {why}" in " ".join(run_memoir(tree, "show", capture).stdout.split())
    capture, done = record(tree, tmp_path / "calls", options=CALLS, **preload)
    assert refusals(done) == [line]
    assert done.stderr.count("memoir: recording without calls of Python functions: there are no Python stacks either") == 1
    check_all_but_stacks(tree, capture)
    assert refusals(record(tree, tmp_path / "off", options=["--stacks", "off"], **preload)[1]) == []


def test_a_stripped_one(tree, tmp_path):
    if shutil.which("strip") is None:
        pytest.skip("no strip here")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("this interpreter is no library that another may take the place of")
    library = pathlib.Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME")
    stripped = tmp_path / library.name
    subprocess.run(["strip", "-o", stripped, library], check=True)
    assert stripped.stat().st_size < library.stat().st_size
    capture, done = record(tree, tmp_path / "run", library.name, options=CALLS, LD_LIBRARY_PATH=str(tmp_path))
    assert done.stdout.splitlines()[0] == str(stripped) and refusals(done) == []
    found = events(tree, capture)
    frames = [(frame["function"], frame["line"]) for event in found if event["event"] == "stack" for frame in event.get("frames", ())]
    assert ("work", 4) in frames and ("<module>", 3) in frames
    assert any(event["event"] == "call_begin" and event["function"] == "work" for event in found)
