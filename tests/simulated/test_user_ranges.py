"""A backward pass on the GPU runs on autograd's thread: user ranges that are open on the calling thread hold what it does, in every view."""

import json
import subprocess
import sys

import pytest

PROGRAM = '''
import torch
from torch.profiler import record_function
MIB = 1 << 20
x = torch.zeros(512, 1024, device="cuda")
layers = [torch.nn.Linear(1024, 1024, bias=False).cuda() for _ in range(4)]

class Asks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y, bytes):
        ctx.bytes = bytes
        return y.clone()
    @staticmethod
    def backward(ctx, gradient):
        torch.empty(ctx.bytes, dtype=torch.uint8, device="cuda")
        return gradient, None

for bytes in (MIB, 100 << 30):
    with record_function("step"):
        with record_function("forward pass"):
            y = x
            for layer in layers:
                y = layer(y)
            y = Asks.apply(y, bytes)
        try:
            with record_function("backward pass"):
                y.sum().backward()
        except torch.cuda.OutOfMemoryError:
            print("ran out of memory")
'''


def memoir(tree, *arguments):
    done = subprocess.run([tree / "bin" / "memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    capture = tmp_path_factory.mktemp("ranges") / "capture"
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--simulate", "h100", "--", sys.executable, "-c", PROGRAM],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "ran out of memory" in done.stdout, done.stderr
    return capture


def test_rows_by_range(tree, recorded):
    summary = json.loads(memoir(tree, "show", "--by", "range", "--device", "cuda:0", "--json", recorded))
    allocated = {row["name"]: row["allocated_bytes"] for row in summary["ranges"]}
    weights, activation = 4 << 20, 2 << 20
    assert allocated["backward pass"] >= 4 * weights + 4 * activation, "a gradient of each weight, and what flows between"
    assert allocated["forward pass"] >= 2 * 5 * activation


def test_tree(tree, recorded):
    root = json.loads(memoir(tree, "show", "--tree", "--json", recorded))["root"]
    names = lambda node: {child["name"]: child for child in node["children"]}
    engine = "autograd::engine::evaluate_function: MmBackward0"
    assert engine not in names(root)
    backward = names(names(root)["step"])["backward pass"]
    assert {"MmBackward0"} <= names(names(backward)[engine]).keys()


def test_the_line_of_the_peak(tree, recorded):
    """For the first step: in the second one, which runs out of memory, gradients are there from the beginning."""
    device = json.loads(memoir(tree, "show", "--device", "cuda:0", "--range", "step#0", "--json", recorded))["devices"][0]
    assert device["peak_range"] == "backward pass"


def test_out_of_memory(tree, recorded):
    report = json.loads(memoir(tree, "check", "oom", "--json", recorded))
    assert [error["range"] for error in report["out_of_memory"]] == ["backward pass"]
