"""Models that Python made and a C++ program runs: a scripted module (TorchScript), and one that AOTInductor compiled ahead of time."""

import shutil

import pytest
import torch
from recording import counts, events, run_memoir, show


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = torch.nn.Linear(64, 256), torch.nn.BatchNorm1d(256), torch.nn.Linear(256, 8)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.body(x))))


@pytest.fixture(scope="module")
def scripted(tmp_path_factory):
    path = tmp_path_factory.mktemp("scripted") / "net.pt"
    torch.jit.script(Net()).save(path)
    return path


@pytest.fixture(scope="module")
def aot_compiled(tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("AOTInductor compiles with g++, which is not here")
    path = tmp_path_factory.mktemp("compiled") / "net.pt2"
    with torch.no_grad():
        program = torch.export.export(Net().eval(), (torch.randn(32, 64),))
        torch._inductor.aoti_compile_and_package(program, package_path=str(path))
    return path


def record(tree, built, clean, folder, program, *arguments):
    done = run_memoir(tree, "run", "-o", folder / "capture", "--", built(program), *arguments, env=clean())
    assert done.returncode == 0 and done.stdout.startswith("ran"), done
    assert program in done.stderr and "memoir: peak " in done.stderr, "the summary"
    return folder / "capture"


def categories(tree, capture):
    """At the peak, in backward."""
    return {row["name"]: row["bytes_at_peak"] for row in show(tree, capture, "--by", "category")["categories"]}


WEIGHTS = 4 * (64 * 256 + 256 + 2 * 256 + 256 * 8 + 8)
BUFFERS = 4 * 2 * 256 + 8
INPUT = 4 * 32 * 64


def test_torchscript(tree, built, clean, tmp_path, scripted):
    """As it is: operators, backward, categories. Modules have no names."""
    capture = record(tree, built, clean, tmp_path, "libtorch_scripted", scripted)
    report = show(tree, capture)
    assert report["step_count"] == 3 and counts(report)["aten::linear"] == 2 * 3
    held = categories(tree, capture)
    assert held["parameter"] == WEIGHTS and held["gradient"] == WEIGHTS and held["activation"] > 0 and held["input"] == INPUT + BUFFERS, held
    assert set(show(tree, capture, "--by", "module")["phases"]) == {"backward", "other"}, "without calls of modules no forward is known"


def test_torchscript_that_is_watched(tree, built, clean, tmp_path, scripted):
    """With the names that Python gave; what runs belongs to the root, for TorchScript runs all modules as one graph."""
    capture = record(tree, built, clean, tmp_path, "libtorch_scripted", scripted, "watch")
    held = categories(tree, capture)
    assert (held["parameter"], held["buffer"], held["gradient"], held["input"]) == (WEIGHTS, BUFFERS, WEIGHTS, INPUT), held
    parameters = {row["name"] for row in show(tree, capture, "--by", "parameter")["parameters"]}
    assert {"body.weight", "body.bias", "norm.weight", "norm.running_mean", "head.weight"} <= parameters
    modules = {(row["path"], row["class"]): row["count"] for row in show(tree, capture, "--by", "module")["modules"] if row["kind"] == "named"}
    assert modules[("", "Net")] == 3
    assert {"forward", "backward"} <= set(show(tree, capture, "--by", "module")["phases"])


def test_aot_inductor(tree, built, clean, tmp_path, aot_compiled):
    capture = record(tree, built, clean, tmp_path, "libtorch_aot_compiled", aot_compiled)
    report = show(tree, capture)
    assert report["step_count"] == 3 and [e["name"] for e in events(tree, capture) if e["event"] == "mark"] == ["ran"]
    assert counts(report)["aten::randn"] == 3 and "aten::addmm" not in counts(report), "the input is an operator's, products are called in C"
    for number in range(3):
        inside = {row["name"]: row["allocated_bytes"] for row in show(tree, capture, "--range", f"inference#{number}")["operators"]}
        assert inside["(no operator)"] >= 4 * 32 * (256 + 8), inside  # what it hands from product to product, and its result
    assert set(categories(tree, capture)) == {"input"}
