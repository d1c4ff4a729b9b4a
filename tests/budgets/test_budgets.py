"""@pytest.mark.memoir: what a marked test comes to, in pytest's own words, when it passes, fails, exceeds its budget, dies or is asked wrongly."""

import re
import subprocess

import pytest
from project import MODEL, run

TESTS = """
import os, signal, unittest, warnings
import pytest
pytestmark = pytest.mark.memoir(device="sim:h100:4GiB")

@pytest.fixture(scope="module")
def resource():
    yield "resource"

@pytest.fixture
def broken():
    raise RuntimeError("no such resource")

@pytest.fixture
def breaks_later():
    yield
    raise RuntimeError("cannot give it back")

def plainly_in_the_parent():
    pass

@pytest.mark.memoir(peak="1 GiB", reserved="1.5GB", leaks=0, ooms=0)
def test_keeps(resource, tmp_path):
    from model import train
    train()
    print("printed by the test")
    warnings.warn("a warning of the test")
    (tmp_path / "file").write_text("here")

@pytest.mark.memoir(peak="64 MiB", leaks=0, ooms=0)
def test_exceeds():
    import torch
    from model import train
    train(kept=[])
    try:
        torch.ones(8 << 30, device="cuda")
    except torch.OutOfMemoryError:
        pass

@pytest.mark.memoir(device="cpu", peak="1 MB")
@pytest.mark.xfail(reason="too large, as known", strict=True)
@pytest.mark.parametrize("what", ["a/b::c[d] \\u00e9\\n"])
def test_odd(what):
    from model import train
    train(device="cpu", steps=2)

@pytest.mark.memoir(device="cpu", leaks=0)
class TestOfUnittest(unittest.TestCase):
    def setUp(self):
        self.steps = 2

    def test_few_steps(self):
        from model import train
        train(device="cpu", steps=self.steps)

@pytest.mark.memoir(peak="1 GiB")
def test_without_gpu():
    from model import train
    train(device="cpu", steps=1)

@pytest.mark.memoir(peak="1 GiB")
def test_without_torch():
    pass

def test_fails(resource):
    print("printed before the failure")
    left = 1
    assert left == 2

def test_skips():
    pytest.skip("not today")

@pytest.mark.skip(reason="never")
def test_marked_skip():
    pass

def test_setup_fails(broken):
    pass

def test_teardown_fails(breaks_later):
    assert False, "and so does the test"

def test_is_killed():
    print("said by a process that was killed", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

def test_crashes():
    import ctypes
    ctypes.string_at(0)

def test_leaves():
    os._exit(0)

@pytest.mark.memoir(peek="1 GiB")
def test_unknown_argument():
    pass

@pytest.mark.memoir(peak="2 GiBs")
def test_no_size():
    pass

@pytest.mark.memoir("1 GiB")
def test_positional():
    pass

@pytest.mark.memoir(device="gpu")
def test_no_device():
    pass

@pytest.mark.memoir(device="sim:h1000")
def test_unknown_card():
    pass

@pytest.mark.memoir(device="cpu", baseline="none.memoir")
def test_no_baseline():
    pass
"""
MIXED = """
import pytest

@pytest.fixture(scope="module")
def shared():
    yield 1
    raise RuntimeError("the module's fixture breaks at its end")

def test_before(shared):
    pass

@pytest.mark.memoir(device="cpu")
def test_last_of_its_module(shared):
    pytest.skip("it does nothing")
"""
PLAIN = """
def test_plain():
    pass
"""


@pytest.fixture(scope="module")
def package(tree):
    return tree / "lib" / "memoir" / "python"


@pytest.fixture(scope="module")
def done(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    return run(package, folder, {"model.py": MODEL, "test_budget.py": TESTS, "test_mixed.py": MIXED, "test_plain.py": PLAIN}, "-rfEP", "--memoir-dir", "captures")


def test_a_budget_that_is_kept(done):
    assert done.outcomes["test_keeps"] == "passed", done.text
    said = done.section("test_keeps")
    assert re.search(r"^peak [\d.]+ MiB of 1.00 GiB on cuda:0\nreserved [\d.]+ MiB of 1.40 GiB on cuda:0\n0 leaks of 0\n0 out-of-memory errors of 0$", said, re.MULTILINE), done.text
    assert "printed by the test" in said and "UserWarning: a warning of the test" in done.text
    assert int(done.properties["test_keeps"]["memoir_peak_bytes"]) > 64 << 20  # with cuBLAS's workspace


def test_a_budget_that_is_exceeded_says_who(done, tree):
    assert done.outcomes["test_exceeds"] == "failed", done.text
    said = done.section("test_exceeds")
    assert re.search(r"^peak [\d.]+ MiB on cuda:0, [\d.]+ MiB over the budget of 64.0 MiB\nthe peak was reached in aten::\w+", said, re.MULTILINE), said
    assert re.search(r"^live at the peak, by line:\n(  .*\n)*? +[\d.]+ MiB +[\d.]+%  model.py:8 train$", said, re.MULTILINE), said
    assert re.search(r"^leaks: 1 place keeps more in every step, the budget is 0\n  model.py:8 train: 1.0 MiB a step since step \d+, .* cuda:0, ", said, re.MULTILINE), said
    assert re.search(r"^1 out-of-memory error, the budget is 0\n  aten::ones at test_budget.py:\d+ test_exceeds asked cuda:0 for 32.0 GiB, with ", said, re.MULTILINE), said
    assert re.search(r"^FAILED test_budget.py::test_exceeds - Failed: peak", done.text, re.MULTILINE), done.text
    command = re.search(r"^  memoir (show --by category,line .*)$", said, re.MULTILINE)[1]
    shown = subprocess.run([tree / "bin" / "memoir", *command.split()], capture_output=True, text=True)
    assert shown.returncode == 0 and "model.py:8" in shown.stdout, shown.stderr


def test_xfail_takes_a_budget(done):
    (name,) = [name for name in done.outcomes if name.startswith("test_odd[")]
    assert done.outcomes[name] == "skipped" and "too large, as known" in done.said[name], done.text


def test_what_the_test_itself_comes_to(done):
    outcomes = {name: done.outcomes[name] for name in ("test_fails", "test_skips", "test_marked_skip", "test_setup_fails", "test_teardown_fails", "test_plain")}
    assert outcomes == {
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_marked_skip": "skipped",
        "test_setup_fails": "error",
        "test_teardown_fails": "failed+error",
        "test_plain": "passed",
    }, done.text
    assert "assert 1 == 2" in done.said["test_fails"] and "printed before the failure" in done.section("test_fails")
    assert "RuntimeError: no such resource" in done.said["test_setup_fails"] and "not today" in done.said["test_skips"]


def test_fixtures_of_other_tests_end_with_their_module(done):
    outcomes = {name: done.outcomes[name] for name in ("test_before", "test_last_of_its_module", "test_plain")}
    assert outcomes == {"test_before": "passed", "test_last_of_its_module": "skipped+error+error", "test_plain": "passed"}, done.text


@pytest.mark.parametrize(
    "name, words",
    [("test_is_killed", r"was ended by signal 9, SIGKILL \(as when"), ("test_crashes", r"was ended by signal 11, SIGSEGV(.|\n)*string_at"), ("test_leaves", "ended with exit code 0")],
)
def test_a_child_that_dies_is_a_failure(done, name, words):
    assert done.outcomes[name] == "failed" and re.search(f"memoir: the test's process {words}", done.said[name]), done.text


@pytest.mark.in_turn(always=4)
@pytest.mark.parametrize(
    "name, words",
    [
        ("test_unknown_argument", "unknown argument peek; there are device, peak, reserved, leaks, ooms, baseline, tolerance"),
        ("test_no_size", "peak='2 GiBs' is no size; write bytes, or such as \"2 GiB\""),
        ("test_positional", "takes arguments by name alone, not '1 GiB'"),
        ("test_no_device", "device='gpu' is none; write \"sim:h100\""),
        ("test_unknown_card", "unknown card h1000"),
        ("test_no_baseline", "there is no baseline .*none.memoir; to make it: pytest --memoir-baseline-update 'test_budget.py::test_no_baseline'"),
        ("test_without_torch", "there is no capture of the test:\n +memoir: nothing was recorded: no process imported torch"),
        ("test_without_gpu", "the test put nothing on the simulated GPU, so its peak says nothing"),
        ("test_few_steps", "leaks: only 1 steps were seen, and a leak shows from 6 on"),
    ],
)
def test_what_cannot_be_judged_is_an_error(done, name, words):
    assert done.outcomes[name] == "error" and re.search(f"memoir: .*{words}", done.said[name], re.DOTALL), done.text


def test_captures_are_in_the_folder_that_was_named(done):
    names = {one.name for one in (done.folder / "captures").iterdir()}
    assert {"test_budget.py.test_keeps", "test_budget.py.test_exceeds"} <= names and not (done.folder / "tmp" / "memoir").exists()
    assert len([name for name in names if re.fullmatch(r"test_budget\.py\.test_odd\[[\w.\[\]-]+-[0-9a-f]{8}", name)]) == 1, names


def test_without_the_program_it_is_an_error(package, tmp_path):
    import shutil

    shutil.copytree(package, tmp_path / "alone", ignore=shutil.ignore_patterns("__pycache__"))
    done = run(tmp_path / "alone", tmp_path, {"test_it.py": "import pytest\n\n@pytest.mark.memoir\ndef test_it():\n    pass\n\ndef test_other():\n    pass\n"})
    assert done.outcomes == {"test_it": "error", "test_other": "passed"}, done.text
    assert re.search("memoir: no bin/memoir beside .*; install Memoir again", done.said["test_it"])


def test_xdist(package, tmp_path):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    test = 'import pytest\n\n@pytest.mark.memoir(device="cpu", peak=peak)\ndef test_it():\n    from model import train\n    train(device="cpu", steps=1)\n'
    files = {"model.py": MODEL, "test_kept.py": test.replace("=peak", '="1 GiB"'), "test_not.py": test.replace("=peak", "=1"), "conftest.py": PLAIN}
    done = run(package, tmp_path, files, "-n2", "-p", "no:randomly")
    assert "2 workers" in done.text and re.search(r"^FAILED test_not.py::test_it - Failed: peak", done.text, re.MULTILINE), done.text
    assert re.search("1 failed, 1 passed", done.text), done.text
