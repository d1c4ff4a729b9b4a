"""Baselines of marked tests, and the fixture memoir_capture."""

import re

import pytest
from project import MODEL, run

BASELINE = """
import os
import pytest

@pytest.mark.memoir(device=os.environ.get("DEVICE", "sim:h100"), baseline="baselines/{test}.memoir", **eval(os.environ.get("MORE", "{}")))
def test_step():
    from model import train
    train(steps=1)
"""
FIXTURE = """
import pathlib
import pytest

def train(steps, options):
    from model import train
    train(steps=steps, **options)

class Models:
    @staticmethod
    def fails():
        print("printed by the function")
        raise ValueError("this is why")

def test_function(memoir_capture):
    capture = memoir_capture(train, 2, {"width": 128}, device="sim:h100")
    assert capture.show(device="cuda:0").devices[0].peak_allocated_bytes > 1 << 20

def test_script(memoir_capture):
    capture = memoir_capture("script.py", "--steps", 3, device="cpu")
    assert len(capture.steps) == 3

def test_failing(memoir_capture):
    memoir_capture(Models.fails)

def test_failing_is_expected(memoir_capture, tmp_path):
    with pytest.raises(pytest.fail.Exception, match="there is no capture of Models.fails"):
        memoir_capture(Models.fails, check=False)

def test_lambda(memoir_capture):
    memoir_capture(lambda: None)

def test_no_script(memoir_capture):
    memoir_capture("nothing.py")

def test_slow(memoir_capture):
    memoir_capture("slow.py", timeout=0.5)
"""
SCRIPT = """
import sys
import memoir
from model import train
assert sys.argv[1:] == ["--steps", "3"]
for _ in range(3):
    memoir.step()
    train(steps=1, device="cpu")
"""


@pytest.fixture(scope="module")
def package(tree):
    return tree / "lib" / "memoir" / "python"


def test_baselines(package, tmp_path):
    files = {"model.py": MODEL, "test_it.py": BASELINE}
    written = run(package, tmp_path, files, "--memoir-baseline-update")
    assert written.outcomes == {"test_step": "passed"}, written.text
    baseline = tmp_path / "baselines" / "test_it.py.test_step.memoir"
    assert re.search(rf"^wrote baseline {re.escape(str(baseline))} \([\d.]+ KiB\)$", written.text, re.MULTILINE), written.text
    assert [one.suffix for one in baseline.iterdir()] == [".memoir"]

    same = run(package, tmp_path, files, "-rP")  # exactly, from one run to the next
    assert same.outcomes == {"test_step": "passed"}, same.text
    assert re.search(r"^peak [\d.]+ MiB, no difference against baseline baselines/test_it.py.test_step.memoir$", same.section("test_step"), re.MULTILINE), same.text

    more = {**files, "model.py": MODEL.replace("torch.ones(1024,", "torch.ones(1025,")}  # a row more is 1 KiB
    grown = run(package, tmp_path, more, MORE='{"tolerance": 0}')
    assert grown.outcomes == {"test_step": "failed"}, grown.text
    said = grown.section("test_step")
    assert re.search(r"^peak [\d.]+ MiB on cuda:0, \+[\d.]+ KiB against baseline baselines/test_it.py.test_step.memoir \(.*; allowed: 0 B more\)$", said, re.MULTILINE), said
    assert re.search(r"^ +\+[\d.]+ KiB  model.py:8 train \(grown\)$", said, re.MULTILINE) and re.search(r"^  memoir diff \S*baselines/\S+ \S+$", said, re.MULTILINE), said

    allowed = run(package, tmp_path, more, "-rP", MORE='{"tolerance": "5%"}')
    assert allowed.outcomes == {"test_step": "passed"} and re.search(r"\+[\d.]+ KiB against baseline", allowed.section("test_step")), allowed.text

    other = run(package, tmp_path, files, "-rP", DEVICE="sim:l4")  # whose cuBLAS has smaller workspaces
    assert other.outcomes == {"test_step": "passed"}, other.text
    assert re.search(r"^peak [\d.]+ MiB, -[\d.]+ MiB against .*\nunlike: GPU a simulated NVIDIA H100 .* in the baseline, a simulated NVIDIA L4 .* here$", other.section("test_step"), re.MULTILINE), other.text


def test_a_baseline_that_is_none(package, tmp_path):
    (tmp_path / "baselines" / "test_it.py.test_step.memoir").mkdir(parents=True)
    (tmp_path / "baselines" / "test_it.py.test_step.memoir" / "mine.txt").write_text("kept")
    done = run(package, tmp_path, {"model.py": MODEL, "test_it.py": BASELINE}, "--memoir-baseline-update")
    assert done.outcomes == {"test_step": "error"} and "is there and is no capture" in done.said["test_step"], done.text
    assert (tmp_path / "baselines" / "test_it.py.test_step.memoir" / "mine.txt").read_text() == "kept"


def test_a_folder_of_baselines_is_none(package, tmp_path):
    """Its entries are named like captures; replacing the folder would delete its other files."""
    (tmp_path / "baselines" / "other.memoir").mkdir(parents=True)
    done = run(package, tmp_path, {"model.py": MODEL, "test_it.py": BASELINE.replace("baselines/{test}.memoir", "baselines")}, "--memoir-baseline-update")
    assert done.outcomes == {"test_step": "error"} and "is there and is no capture" in done.said["test_step"], done.text
    assert (tmp_path / "baselines" / "other.memoir").is_dir() and (tmp_path / "test_it.py").exists()


def test_the_fixture(package, tmp_path):
    files = {"model.py": MODEL, "test_it.py": FIXTURE, "script.py": SCRIPT, "slow.py": "import time\ntime.sleep(60)\n"}
    done = run(package, tmp_path, files)
    assert done.outcomes == {
        "test_function": "passed",
        "test_script": "passed",
        "test_failing": "failed",
        "test_failing_is_expected": "passed",
        "test_lambda": "failed",
        "test_no_script": "failed",
        "test_slow": "failed",
    }, done.text
    assert re.search(r"Models.fails ended with exit code 1:(.|\n)*printed by the function(.|\n)*ValueError: this is why", done.text), done.text
    assert "has no name in a module, by which another process could find it" in done.said["test_lambda"]
    assert re.search("there is no script .*/nothing.py", done.said["test_no_script"]) and "slow.py did not end within 0.5 s" in done.said["test_slow"]
