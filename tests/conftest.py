"""Fixtures for tests of an installed tree."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def tree():
    """The installed tree under test: $TESTED_TREE (ctest sets it), else what ./dev build made."""
    folder = pathlib.Path(os.environ.get("TESTED_TREE") or ROOT / "build" / "install")
    assert (folder / "bin" / "memoir").exists(), f"no installed tree at {folder}: run ./dev build, or name another in TESTED_TREE"
    os.environ["PATH"] = f"{folder.resolve() / 'bin'}{os.pathsep}{os.environ['PATH']}"  # so that it prints its commands as "memoir show"
    return folder.resolve()


@pytest.fixture(scope="session")
def record(tree):
    """record(output, script, *arguments): records a Python script with the tree under test; returns the finished process."""

    def record(output, script, *arguments, program=tree / "bin" / "memoir"):
        command = [program, "run", "-q", "-o", output, "--", sys.executable, script, *arguments]
        return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    return record


def pytest_configure(config):
    config.addinivalue_line("markers", "in_turn(always=0): of a test's cases the first `always` are run each time, the others in turn: see TEST_CASES")


def pytest_collection_modifyitems(config, items):
    """TEST_CASES, set by ./dev test: `short` leaves the cases out that are marked `in_turn`, `share` runs a seventh of them, another each day, and
    all, as without it, runs all."""
    which = os.environ.get("TEST_CASES", "all")
    assert which in ("all", "share", "short"), which
    if which == "all":
        return
    today, numbers, left_out = int(time.time()) // 86400 % 7, {}, []
    for item in items:
        mark = item.get_closest_marker("in_turn")
        if mark is None:
            continue
        test = item.nodeid.partition("[")[0]
        number = numbers[test] = numbers.get(test, -1) + 1
        if number >= mark.kwargs.get("always", 0) and (which == "short" or number % 7 != today):
            left_out.append(item)
    if len(left_out) < len(items):   # a file of which nothing is left is run whole: an entry that runs no test fails
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
