"""Native frames of a program without Python: its own functions and lines, after `memoir symbolize`."""

import shutil

import pytest
from recording import run_memoir, show


@pytest.fixture
def recorded(tree, built, tmp_path):
    """A program of libtorch, as CMake built it, and its capture."""
    program = tmp_path / "trainer"
    shutil.copy(built("libtorch_training"), program)
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--stacks", "native", "--", program)
    assert (done.returncode, done.stderr) == (0, "")
    return program, tmp_path / "capture"


def test_a_program_has_its_own_lines(tree, recorded):
    program, capture = recorded
    before = {row["file"] for row in show(tree, capture, "--by", "line")["lines"] if row["allocated_bytes"]}
    assert str(program) in before
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    rows = [row for row in show(tree, capture, "--by", "line")["lines"] if (row["file"] or "").endswith("libtorch/training.cc")]
    assert len(rows) >= 3 and all(row["line"] > 0 for row in rows)
    assert any("forward" in row["function"] for row in rows), rows


def test_another_build_gets_no_names_and_a_copy_does(tree, recorded):
    program, capture = recorded
    kept = program.parent / "copies"
    kept.mkdir()
    program.rename(kept / program.name)
    shutil.copy("/bin/true", program)
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 0 and "trainer: " in done.stderr and "--objects" in done.stderr
    assert not any((row["file"] or "").endswith(".cc") for row in show(tree, capture, "--by", "line")["lines"])
    done = run_memoir(tree, "symbolize", "--objects", kept, capture)
    assert done.returncode == 0 and "trainer: " not in done.stderr
    named = show(tree, capture, "--by", "line")["lines"]
    assert any((row["file"] or "").endswith("libtorch/training.cc") for row in named)
    # Names that were found once stay, also when the file is gone.
    done = run_memoir(tree, "symbolize", capture)
    assert done.returncode == 0 and "trainer: " not in done.stderr
    assert show(tree, capture, "--by", "line")["lines"] == named
