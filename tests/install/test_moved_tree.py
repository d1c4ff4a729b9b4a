"""The installed tree works from wherever it is moved to, also where the path has a space in it."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCRIPT = """
import torch
kept = torch.ones(1000)
total = kept + kept
print(torch.__version__)
"""


@pytest.fixture
def moved(tree, tmp_path):
    return shutil.copytree(tree, tmp_path / "another place" / "memoir", symlinks=True)


def test_says_its_version(moved):
    done = subprocess.run([moved / "bin" / "memoir", "--version"], capture_output=True, text=True)
    version = (ROOT / "VERSION").read_text().strip()
    assert done.returncode == 0 and version in done.stdout, done


def test_records_and_shows(moved, record, tmp_path):
    script, capture = tmp_path / "script.py", tmp_path / "capture"
    script.write_text(SCRIPT)
    done = record(capture, script, program=moved / "bin" / "memoir")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2."), "the program's own output passes through"
    shown = subprocess.run([moved / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    operators = {row["name"]: row for row in json.loads(shown.stdout)["operators"]}
    assert operators["aten::ones"]["allocated_bytes"] >= 4000
    assert operators["aten::add.Tensor"]["count"] == 1


def test_starts_through_a_link(moved, tmp_path):
    """/usr/local/bin/memoir -> the tree: parts are found next to the program, not next to the link."""
    link = tmp_path / "memoir"
    link.symlink_to(moved / "bin" / "memoir")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([link, "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "capture").glob("*.memoir")), done.stderr
