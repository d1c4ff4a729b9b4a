"""A program that dies of torch.OutOfMemoryError, and one that catches it: who asked for how much, and who held the bytes."""

import json
import subprocess
import sys

import pytest

PROGRAM = '''
import sys, torch
from torch import nn
MIB = 1 << 20
class Hoarder(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []
    def forward(self, x):
        self.kept.append(torch.zeros(600 * MIB, dtype=torch.uint8, device="cuda"))
        return x
class Victim(nn.Module):
    def forward(self, x):
        return x.new_empty(300 * MIB, dtype=torch.float32)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hoard, self.head = Hoarder(), Victim()
    def forward(self, x):
        return self.head(self.hoard(x))
import memoir
net = Net()
for step in range(2):
    memoir.step(step)
    try:
        net(torch.ones(10, device="cuda"))
    except torch.OutOfMemoryError:
        if sys.argv[1] == "dies": raise
'''
MIB = 1 << 20


@pytest.fixture(scope="module", params=["dies", "catches"])
def ran(request, tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "program.py").write_text(PROGRAM)
    command = [tree / "bin/memoir", "run", "-o", folder / "capture", "--simulate", "l4", "--sim-memory", "2GiB", "--", sys.executable]
    done = subprocess.run(list(map(str, [*command, folder / "program.py", request.param])), capture_output=True, text=True, timeout=300)
    shown = subprocess.run([tree / "bin/memoir", "show", "--json", folder / "capture"], capture_output=True, text=True, timeout=300)
    return request.param, done, json.loads(shown.stdout), folder / "capture"


def test_the_run_ends_as_it_would_without(ran):
    which, done, _, _ = ran
    assert (done.returncode != 0) == (which == "dies") and ("torch.OutOfMemoryError" in done.stderr) == (which == "dies")


def test_the_summary_names_victim_and_hoarder(tree, ran):
    which, done, _, capture = ran
    said = " ".join(line.removeprefix("memoir: ") for line in done.stderr.splitlines() if line.startswith("memoir:"))
    said = " ".join(said.split())
    assert "aten::new_empty in head (Victim), forward, step" in said and "asked for 1.17 GiB" in said, said
    held = "600.0 MiB" if which == "dies" else "1.17 GiB"
    assert f"by module hoard {held}" in said, said
    tables = " ".join(subprocess.run([tree / "bin/memoir", "show", capture], capture_output=True, text=True, timeout=300).stdout.split())
    assert f"by operator aten::zeros {held}" in tables, tables


LEAKS = '''
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
history = []
while True:
    model(torch.randn(1024, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    history.append(model(torch.randn(1024, 1024, device="cuda")))
'''


def test_a_leak_is_said_with_its_line(tree, tmp_path):
    (tmp_path / "program.py").write_text(LEAKS)
    command = [tree / "bin/memoir", "run", "-o", "capture", "--simulate", "l4", "--sim-memory", "1GiB", "--", sys.executable, "program.py"]
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "torch.OutOfMemoryError" in done.stderr
    said = [line.removeprefix("memoir: ") for line in done.stderr.splitlines() if line.startswith("memoir:")]
    # Four outputs and the input, of 4 MiB each: all stay, because the graph is kept.
    assert any(line.startswith("! leak? program.py:11: +20.0 MiB each step, ") for line in said), said
    (paste,) = [line.split(maxsplit=1)[1] for line in said if line.startswith("leaked ")]
    pasted = subprocess.run(paste, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    first = next(line for line in pasted.stdout.splitlines() if "program.py:" in line)
    assert pasted.returncode == 3 and first.startswith("program.py:11: +20.0 MiB each step"), pasted


def test_each_error_is_there(ran):
    which, _, report, _ = ran
    errors, device = report["out_of_memory"], next(d for d in report["devices"] if d["device"] == "cuda:0")
    assert len(errors) == device["num_ooms"] == (1 if which == "dies" else 2) and device["num_alloc_retries"] >= len(errors)
    for step, error in enumerate(errors):
        assert (error["operator"], error["module"], error["class"], error["phase"], error["step"]) == ("aten::new_empty", "head", "Victim", "forward", step)
        assert error["asked_bytes"] == 1200 * MIB > error["device_free_bytes"]
        assert {"name": "hoard", "bytes": 600 * MIB * (step + 1), "blocks": step + 1} in error["by_module"]
        assert sum(holder["bytes"] for holder in error["by_operator"]) == error["allocated_bytes"] <= error["reserved_bytes"]


def test_what_was_live_at_the_last_one(tree, ran):
    which, _, report, capture = ran
    done = subprocess.run([tree / "bin/memoir", "show", "--json", "--at", "oom", capture], capture_output=True, text=True, timeout=300)
    device = next(d for d in json.loads(done.stdout)["devices"] if d["device"] == "cuda:0")
    assert device["live_bytes"] == report["out_of_memory"][-1]["allocated_bytes"] > 0
    assert device["time_ns"] == report["out_of_memory"][-1]["time_ns"]


def test_a_snapshot_of_the_error(tree, tmp_path):
    """A snapshot at the error: it has the blocks live then, also if the program frees them and goes on."""
    (tmp_path / "program.py").write_text("""
import torch
MIB = 1 << 20
def asks():
    held = torch.zeros(900 * MIB, dtype=torch.uint8, device="cuda")
    torch.zeros(900 * MIB, dtype=torch.uint8, device="cuda")
for _ in range(12):
    try:
        asks()
    except torch.OutOfMemoryError:
        pass
""")
    capture = tmp_path / "capture"
    command = [tree / "bin" / "memoir", "run", "--simulate", "h100", "--sim-memory", "1536MiB", "--snapshot-on", "oom", "-o", capture, "--", sys.executable, tmp_path / "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr.count("memoir: snapshot (oom)") == 8, done.stderr
    for number in range(1, 9):
        folder = capture / "snapshots" / f"{number:04}"
        live = json.loads(subprocess.run([tree / "bin" / "memoir", "show", "--json", "--at", "end", "--by", "line", folder], capture_output=True, text=True, check=True).stdout)
        (device,) = [row for row in live["devices"] if row["device"] == "cuda:0"]
        assert device["live_bytes"] == 900 * MIB and device["lines"][0]["name"].endswith("program.py:5 asks"), device
