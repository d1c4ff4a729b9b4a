"""Native frames in a recording, and the names that `memoir symbolize` gives them."""

import json
import os
import pathlib
import shutil

import pytest
import torch
from recording import record, run_memoir, show

PROGRAM = '''
import torch

def grow(x):
    return x.repeat(1000)

kept = grow(torch.ones(1024))
'''
BYTES = 1000 * 1024 * 4


def stacks(tree, capture):
    """Every node of `show --by stack`, with the functions around it, innermost first."""
    nodes = show(tree, capture, "--by", "stack", "--top", "0")["nodes"]
    for node in nodes:
        around, at = [], node
        while at["parent"] is not None:
            around.append((at["file"], at["function"], at["line"]))
            at = nodes[at["parent"]]
        yield node, around


def stack_of(tree, capture, allocated):
    """Of what allocated so many bytes itself."""
    return next(around for node, around in stacks(tree, capture) if node["own"]["allocated_bytes"] == allocated)


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("native"), PROGRAM, options=["--stacks", "native"])
    assert (done.returncode, done.stderr) == (0, "")
    return capture


def test_frames_of_libraries_lie_inside_those_of_python(tree, recorded):
    around = stack_of(tree, recorded, BYTES)
    python = [place for place in around if place[1] in ("grow", "<module>")]
    assert [(function, line) for _, function, line in python] == [("grow", 5), ("<module>", 7)]
    native = around[: around.index(python[0])]
    assert len(native) >= 5
    assert any(file.endswith("libtorch_cpu.so") for file, _, _ in native)
    assert not any("libmemoir" in file for file, _, _ in native)


def test_names_are_those_of_the_symbol_table(tree, recorded, tmp_path):
    capture = shutil.copytree(recorded, tmp_path / "capture")
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 0, done.stderr
    assert " have names" in done.stdout
    functions = [function for _, function, _ in stack_of(tree, capture, BYTES)]
    assert any("repeat" in function for function in functions[: functions.index("grow")]), functions
    assert show(tree, capture)["devices"] == show(tree, recorded)["devices"]


def test_the_line_is_still_the_programs(tree, recorded):
    lines = {row["function"]: row for row in show(tree, recorded, "--by", "line")["lines"]}
    assert lines["grow"]["line"] == 5 and lines["grow"]["allocated_bytes"] >= BYTES


def test_a_capture_without_native_frames(tree, tmp_path):
    capture, _ = record(tree, tmp_path, PROGRAM)
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 1 and "--stacks native" in done.stderr


@pytest.fixture
def without_python(tree, tmp_path):
    """A program of libtorch, as CMake built it, and its capture."""
    minor = ".".join(torch.__version__.split(".")[:2])
    program = tmp_path / "trainer"
    shutil.copy(tree.parent / "tests" / "integration" / f"libtorch_training-torch{minor}", program)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(pathlib.Path(torch.__file__).parent / "lib")}
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--stacks", "native", "--", program, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return program, tmp_path / "capture"


def test_a_program_without_python_has_its_own_lines(tree, without_python):
    program, capture = without_python
    before = {row["file"] for row in show(tree, capture, "--by", "line")["lines"] if row["allocated_bytes"]}
    assert str(program) in before
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    rows = [row for row in show(tree, capture, "--by", "line")["lines"] if (row["file"] or "").endswith("libtorch_training.cc")]
    assert len(rows) >= 3 and all(row["line"] > 0 for row in rows)
    assert any("forward" in row["function"] for row in rows), rows


def test_another_build_gets_no_names_and_a_copy_does(tree, without_python):
    program, capture = without_python
    kept = program.parent / "copies"
    kept.mkdir()
    program.rename(kept / program.name)
    shutil.copy("/bin/true", program)
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 0 and "trainer: " in done.stderr and "--objects" in done.stderr
    assert not any((row["file"] or "").endswith(".cc") for row in show(tree, capture, "--by", "line")["lines"])
    done = run_memoir(tree, "symbolize", "--objects", kept, capture)
    assert done.returncode == 0 and "trainer: " not in done.stderr
    assert any((row["file"] or "").endswith("libtorch_training.cc") for row in show(tree, capture, "--by", "line")["lines"])


def test_damaged_names_are_said_and_written_again(tree, recorded, tmp_path):
    capture = shutil.copytree(recorded, tmp_path / "capture")
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    file = capture / "symbols.memoir-symbols"
    file.write_bytes(file.read_bytes()[:-100] + b"\\xff" * 100)
    shown = run_memoir(tree, "show", capture)
    assert shown.returncode == 0 and "names of native frames are damaged" in shown.stdout + shown.stderr
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    assert "damaged" not in json.dumps(show(tree, capture))
