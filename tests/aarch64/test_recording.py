"""The wheel's tree records in qemu: a program in C++, the same under `memoir run`, one that is killed, and one in Python, with torch's aarch64 wheel."""

import json
import os
import signal
import subprocess

import pytest
from conftest import RUNS, WITH_CUDA, emulated, qemu, run, startable

STEPS = 3


def show(tree, capture, *options):
    return json.loads(run(tree / "bin" / "memoir", "show", "--json", *options, capture))


def counts(report):
    return {row["name"]: row["count"] for row in report["operators"]}


def clean(**variables):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "LD_PRELOAD", "PYTHONPATH"))}
    return {**kept, **variables}


@pytest.fixture(scope="module")
def training(build):
    """examples/libtorch/training.cc, linked with torch RUNS."""
    return build(f"libtorch_training-torch{RUNS}") / "tests" / "libtorch" / f"torch{RUNS}" / "libtorch_training"


def expect_training(report):
    """The steps of examples/libtorch/training.cc."""
    assert report["dropped_events"] == 0
    assert counts(report)["aten::relu"] == 3 * STEPS and counts(report)["aten::randn"] >= STEPS
    assert report["devices"][0]["peak_allocated_bytes"] > 4 * (3 * 2 * 4 * 64 * 64)    # the parameters of its blocks and more


def test_a_program_records_itself(tree, aarch64_tree, training, tmp_path):
    emulated(training, "cpu", tmp_path / "capture", env=clean(MEMOIR_HOME=str(aarch64_tree)))
    report = show(tree, tmp_path / "capture")
    expect_training(report)
    assert json.loads(emulated(aarch64_tree / "bin" / "memoir", "show", "--json", tmp_path / "capture")) == report


def test_it_is_what_is_recorded_here(tree, aarch64_tree, training, tmp_path):
    """The figures of the same program with torch 2.11: the same operators, modules, parameters and categories, except for temporaries of matrix products."""
    own, = (tree.parent / "tests" / "libtorch").glob(f"torch{WITH_CUDA}/libtorch_training")
    run(own, "cpu", tmp_path / "here", env=clean(MEMOIR_HOME=str(tree)))
    emulated(training, "cpu", tmp_path / "there", env=clean(MEMOIR_HOME=str(aarch64_tree)))
    here, there = ({by: show(tree, tmp_path / name, "--by", by) for by in ("operator", "module", "category", "parameter")} for name in ("here", "there"))
    assert counts(here["operator"]) == counts(there["operator"])
    assert here["operator"]["devices"][0]["peak_allocated_bytes"] == there["operator"]["devices"][0]["peak_allocated_bytes"] > 0

    def facts(report):
        return ({(row["path"], row["class"], row["count"]) for row in report["module"]["modules"] if row["kind"] == "named"},
                {row["name"]: (row["allocated_bytes"], row["bytes_at_peak"]) for row in report["category"]["categories"] if row["name"] != "temporary"},
                {row["name"]: (row["bytes_at_peak"], row["allocations"]) for row in report["parameter"]["parameters"] if not row["name"].startswith("(")})

    assert facts(here) == facts(there) and all(facts(here))


def test_memoir_run(tree, aarch64_tree, training, tmp_path):
    """The program knows nothing: libtorch is in the process when it starts."""
    program = startable(tmp_path / "program", training)
    done = subprocess.run([*qemu(aarch64_tree / "bin" / "memoir"), "run", "-o", str(tmp_path / "capture"), "--", str(program), "cpu"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, env=clean(), check=False)
    assert done.returncode == 0, done.stderr
    assert "aten::" in done.stderr
    expect_training(show(tree, tmp_path / "capture"))


KILLED = """
import os, signal, sys, torch, memoir
memoir.start(sys.argv[1], ring_dir=sys.argv[2], ring_size="2MiB")
model = torch.nn.Linear(8, 4)
for step in range(3):
    memoir.step(step)
    model(torch.ones(2, 8)).sum().backward()
memoir.mark("trained")
sys.stdout.write("trained")
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_python_that_is_killed(tree, aarch64_tree, aarch64_python, tmp_path):
    """Steps, modules and lines of a program in Python; what was in its ring is added by aarch64's memoir-drain."""
    (tmp_path / "program.py").write_text(KILLED)
    (tmp_path / "rings").mkdir()
    capture = tmp_path / "capture"
    done = subprocess.run([aarch64_python, tmp_path / "program.py", capture, tmp_path / "rings"], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env=clean(PYTHONPATH=str(aarch64_tree / "lib" / "memoir" / "python")))
    assert done.returncode == -signal.SIGKILL and done.stdout == "trained", done.stderr
    ring, = (tmp_path / "rings").iterdir()
    emulated(aarch64_tree / "libexec" / "memoir" / "memoir-drain", ring)
    assert not ring.exists()
    report = show(tree, capture)
    assert report["dropped_events"] == 0 and report["step_count"] == 3 and counts(report)["aten::linear"] == 3
    assert "Linear" in {row["class"] for row in show(tree, capture, "--by", "module")["modules"] if row["kind"] == "named"}
    assert any(row["name"].endswith("program.py:7 <module>") for row in show(tree, capture, "--by", "line")["lines"])
