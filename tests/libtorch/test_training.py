"""Programs of libtorch without Python: recorded by `memoir run` unchanged, and, if they register their modules, like the same program in Python."""

import os
import shutil
import subprocess

import pytest
import torch
from recording import counts, events, record, run_memoir, show

MINOR = ".".join(torch.__version__.split(".")[:2])

TWIN = '''
import sys, torch, memoir

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.norm = torch.nn.BatchNorm1d(width)
    def forward(self, x):
        return x + self.norm(self.down(torch.relu(self.up(x))))

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(64, 8)
        for i in range(3):
            setattr(self, f"block{i}", Block(64))
    def forward(self, x):
        for i in range(3):
            x = getattr(self, f"block{i}")(x)
        return self.head(x)

device = sys.argv[1]
net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, foreach=False)
for step in range(3):
    memoir.step(step)
    x = torch.randn(32, 64, device=device)
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
memoir.mark("trained")
'''


@pytest.fixture(scope="session")
def program(built):
    """examples/libtorch/training.cc"""
    return built("libtorch_training")


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def pair(request, tree, program, clean, tmp_path_factory):
    """(captures of the program and of its twin, device, what memoir run said of the first)."""
    if request.param == "cuda" and not torch.version.cuda:
        pytest.skip("this torch has no CUDA half")
    if request.param == "cuda" and "WITHOUT_SIMULATION" in os.environ:   # setup/compat.py
        pytest.skip("the simulated device does not serve this torch")
    folder = tmp_path_factory.mktemp(request.param)
    options = ("--simulate", "h100") if request.param == "cuda" else ()
    device = "cuda:0" if request.param == "cuda" else "cpu"
    done = run_memoir(tree, "run", "-o", folder / "cc", *options, "--", program, request.param, env=clean())
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    twin, finished = record(tree, folder, TWIN, request.param, options=options, env=clean())
    assert finished.returncode == 0, finished.stderr
    return folder / "cc", twin, device, done.stderr


def column(report, key, device, columns):
    """{name: {column: bytes}} of the rows, of one device."""
    found = {}
    for row in report[key]:
        parts = [part for part in row.get("devices", [row]) if part.get("device", device) == device]
        for part in parts:
            found[row["name"]] = {name: part[name] for name in columns}
    return found


def test_the_summary_is_printed(pair):
    _, _, device, said = pair
    assert "libtorch_training" in said and "memoir: peak " in said and f" on {device}" in said


def test_operators_and_memory(tree, pair):
    capture, _, device, _ = pair
    report = show(tree, capture)
    assert counts(report)["aten::addmm"] == 3 * 7 and report["step_count"] == 3
    assert any(row["device"] == device and row["peak_allocated_bytes"] > 0 for row in report["devices"])
    assert [e["name"] for e in events(tree, capture) if e["event"] == "mark"] == ["trained"]


FIRST_BLOCK = 2048  # bytes of head.weight, which is moved to the device first


def test_categories_are_the_twins(tree, pair):
    capture, twin, device, _ = pair
    kinds = ("parameter", "buffer", "gradient", "optimizer state", "activation", "input")
    mine, other = ({name: found for name, found in column(show(tree, c, "--by", "category"), "categories", device, ("allocated_bytes", "bytes_at_peak")).items()
                    if name in kinds} for c in (capture, twin))
    if device != "cpu":  # the block by which Memoir found the device was there before: it is in no count of allocations
        assert other["parameter"]["allocated_bytes"] - mine["parameter"]["allocated_bytes"] == FIRST_BLOCK
        mine["parameter"]["allocated_bytes"] += FIRST_BLOCK
    assert mine == other and mine["optimizer state"]["allocated_bytes"] > 0 and mine["activation"]["allocated_bytes"] > 0


def test_parameters_are_the_twins(tree, pair):
    capture, twin, device, _ = pair
    mine, other = (column(show(tree, c, "--by", "parameter"), "parameters", device, ("bytes_at_peak", "allocations")) for c in (capture, twin))
    named = {name: row for name, row in mine.items() if not name.startswith("(")}
    if device != "cpu":  # likewise
        named["head.weight"]["allocations"] += 1
    assert named == {name: row for name, row in other.items() if not name.startswith("(")}
    assert len(named) == 2 * 7 + 2 * 3 + 3 * 3  # weights and biases, of norms too, and their buffers


def test_modules_and_phases_are_the_twins(tree, pair):
    capture, twin, device, _ = pair

    def calls(c):
        return [(e["root"], e["module"], e["class"]) for e in events(tree, c) if e["event"] == "module_enter" and not e.get("of_gradient")]

    assert calls(capture) == calls(twin)
    for c in (capture, twin):
        phases = show(tree, c, "--by", "module")["phases"]
        assert {"forward", "backward", "optimizer"} <= set(phases), c
    mine, other = ({(row["root"], row["path"], row["class"], row["count"]) for row in show(tree, c, "--by", "module")["modules"] if row["kind"] == "named"}
                   for c in (capture, twin))
    assert mine == other and len(mine) == 1 + 1 + 3 * 4


def test_it_runs_alike_without_memoir(program, clean):
    done = subprocess.run([program], env=clean(), capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")


def test_a_torch_without_a_tracker(tree, program, clean, tmp_path):
    """A tree without a tracker for this torch: one line, and the program runs."""
    other = tmp_path / "tree"
    shutil.copytree(tree, other, symlinks=True, ignore=shutil.ignore_patterns("libmemoir_tracker-*"))
    done = run_memoir(other, "run", "-o", tmp_path / "capture", "--", program, env=clean())
    assert (done.returncode, done.stdout) == (0, "trained\n")
    assert done.stderr.startswith(f"memoir: not recording: no tracker for torch {MINOR}") and done.stderr.count("\n") == 1, done.stderr
