"""A program without torch that loads a library which brings libtorch along: recorded from the first look-up of its functions on."""

import platform
import subprocess

import pytest
from recording import counts, events, run_memoir, show

ELSEWHERE = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"),
                               reason="look-ups are watched on x86-64 and aarch64 alone (interpose/cuda/look_ups.h)")


@ELSEWHERE
def test_a_library_that_is_loaded_late(tree, built, clean, tmp_path, device):
    name, _, options = device
    done = run_memoir(tree, "run", "-o", tmp_path / "capture", *options, "--", built("libtorch_host"), built("libtorch_plugin.so"), name, env=clean())
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    assert "libtorch_host" in done.stderr and "memoir: peak " in done.stderr, done.stderr
    report = show(tree, tmp_path / "capture", "--by", "category")
    assert counts(show(tree, tmp_path / "capture"))["aten::addmm"] == 3 * 2 and report["step_count"] == 3
    assert [event["name"] for event in events(tree, tmp_path / "capture") if event["event"] == "mark"] == ["trained"]
    assert {"parameter", "gradient", "optimizer state", "activation"} <= {row["name"] for row in report["categories"]}
    modules = {(row["path"], row["class"]) for row in show(tree, tmp_path / "capture", "--by", "module")["modules"] if row["kind"] == "named"}
    assert modules == {("", "Net"), ("body", "Linear"), ("head", "Linear")}


def test_a_program_that_loads_no_torch_is_left_alone(tree, built, clean, tmp_path):
    done = run_memoir(tree, "run", "-o", tmp_path / "capture", "--", built("libtorch_host"), "libm.so.6", env=clean())
    assert done.returncode == 4 and done.stdout == "", done.stderr


def test_it_runs_alike_without_memoir(built, clean):
    done = subprocess.run([built("libtorch_host"), built("libtorch_plugin.so")], env=clean(), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")
