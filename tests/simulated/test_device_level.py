"""If torch's allocator reports no blocks, requests are recorded at device level, with operator and module, and one line reports it."""

import json
import subprocess
import sys

import pytest

from simulation import environment

PROGRAM = '''
import json, sys, threading, torch
MIB = 1 << 20
if len(sys.argv) > 1:
    torch.cuda.memory.change_current_allocator(torch.cuda.memory.CUDAPluggableAllocator(sys.argv[1], "my_alloc", "my_free"))
class Stage(torch.nn.Module):
    def forward(self, x):
        return torch.cat([x, x])
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = Stage()
    def forward(self, x):
        return self.stage(x)
kept = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda")
other = torch.empty(3 * MIB + 512, dtype=torch.uint8, device="cuda:1")
gone = torch.empty(MIB, dtype=torch.uint8, device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    waited = torch.empty(2 * MIB, dtype=torch.uint8, device="cuda")
if len(sys.argv) == 1:
    waited.record_stream(torch.cuda.current_stream())
del waited
y = Net()(kept)
held = [gone]
del gone
worker = threading.Thread(target=held.clear)
worker.start()
worker.join()
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    raised = False
except RuntimeError:
    raised = True
torch.cuda.synchronize()
live = {f"cuda:{i}": sum(t.untyped_storage().nbytes() for t in (kept, other, y) if t.device.index == i) for i in (0, 1)}
print(json.dumps({"live": live, "raised": raised, "allocated": [torch.cuda.memory_allocated(i) for i in (0, 1)] if torch.cuda.get_allocator_backend() == "cudaMallocAsync" else None}))
'''
KINDS = {
    "async": ({"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, "torch's allocator is cudaMallocAsync"),
    "uncached": ({"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, "the cache of torch's allocator is switched off"),
    "pluggable": ({}, "torch's allocator is pluggable"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_is_recorded_with_operator_and_module(tree, tmp_path, pluggable, kind):
    variables, why = KINDS[kind]
    command = [tree / "bin/memoir", "run", "-o", tmp_path / "capture", "--", sys.executable, "-c", PROGRAM, *([pluggable] if kind == "pluggable" else [])]
    done = subprocess.run(list(map(str, command)), env=environment(tree, MEMOIR_SIM_GPU="a100-40", MEMOIR_SIM_DEVICES=2, **variables), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[0])
    lines = [line for line in done.stderr.splitlines() if "device level" in line]
    assert len(lines) == 1 and lines[0].startswith("memoir: CUDA memory is recorded at device level: ") and why in lines[0]
    assert found["raised"] == (kind != "pluggable"), "this one hands out null"
    assert found["allocated"] is None or found["allocated"] == list(found["live"].values())

    shown = subprocess.run([tree / "bin/memoir", "show", "--json", tmp_path / "capture"], capture_output=True, text=True, timeout=120, check=True)
    report = json.loads(shown.stdout)
    assert "cuda-device-level" in report["processes"][0]["sources"] and report["dropped_events"] == report["unmatched_deallocations"] == 0
    devices = {row["device"]: row for row in report["devices"] if row["device"].startswith("cuda")}
    assert {name: row["live_bytes_at_end"] for name, row in devices.items()} == found["live"]
    assert devices["cuda:0"]["allocated_bytes"] == (5 + 1 + 2 + 10) << 20
    cat = [part for row in report["operators"] if row["name"] == "aten::cat" for part in row["devices"] if part["device"] == "cuda:0"]
    assert [part["allocated_bytes"] for part in cat] == [10 << 20]
    modules = subprocess.run([tree / "bin/memoir", "show", "--device", "cuda:0", "--by", "module", tmp_path / "capture"], capture_output=True, text=True, timeout=120, check=True)
    assert "stage" in modules.stdout
