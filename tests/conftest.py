"""What tests of an installed tree share."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def tree():
    """The installed tree under test: $TESTED_TREE (ctest sets it), else what ./dev build made."""
    folder = pathlib.Path(os.environ.get("TESTED_TREE") or ROOT / "build" / "install")
    assert (folder / "bin" / "memoir").exists(), f"no installed tree at {folder}: run ./dev build, or name another in TESTED_TREE"
    return folder.resolve()


@pytest.fixture(scope="session")
def record(tree):
    """record(output, script, *arguments): records a Python script with the tree under test; returns the finished process."""

    def record(output, script, *arguments, program=tree / "bin" / "memoir"):
        command = [program, "run", "-q", "-o", output, "--", sys.executable, script, *arguments]
        return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    return record
