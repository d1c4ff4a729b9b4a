"""memoir export torch-snapshot is what torch.cuda.memory._dump_snapshot writes at that moment, entry by entry, and torch's own viewer takes it."""

import json
import pickle
import subprocess
import sys

import pytest

from simulation import environment

PROGRAM = r'''
import sys
import torch
import memoir

folder = sys.argv[1]
torch.cuda.init()
torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
memoir.start(folder + "/capture")


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(1000, 3000)

    def forward(self, x):
        return torch.relu(self.fc(x))


net = torch.nn.Sequential(Wide(), torch.nn.Linear(3000, 10)).cuda()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    optimizer.zero_grad()
    net(torch.randn(500, 1000, device="cuda")).sum().backward()
    optimizer.step()
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    other = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
    torch.mm(torch.ones(512, 512, device="cuda"), torch.ones(512, 512, device="cuda"))
holes = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(12)]
del holes[::2]
try:
    torch.empty(1 << 40, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
second = torch.ones(100, device="cuda:1")
torch.cuda.empty_cache()
torch.cuda.memory._dump_snapshot(folder + "/theirs.pickle")
memoir.stop()
'''
CONFIGURATIONS = {"segments": "", "expandable": "expandable_segments:True"}
VIEWER = r'''
import json, pickle, sys
from torch.cuda import _memory_viz as viz
snapshot = pickle.load(open(sys.argv[1], "rb"))
identity = lambda lines: lines
html = viz.trace_plot(snapshot) + viz.segment_plot(snapshot)
print(json.dumps({"segsum": viz.segsum(snapshot), "trace": viz.trace(snapshot), "memory": viz.memory(snapshot, format_flamegraph=identity),
                  "segments": viz.segments(snapshot, format_flamegraph=identity), "html": len(html)}))
'''


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise AssertionError(f"{module}.{name}: a reader would have to execute it")


def plain(path):
    with open(path, "rb") as file:
        return Plain(file).load()


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def folder(request, tree, tmp_path_factory):
    """With `theirs.pickle` and `ours.pickle`, both of one process at one moment."""
    folder = tmp_path_factory.mktemp("snapshot")
    env = environment(tree, MEMOIR_SIM_GPU="l4", MEMOIR_SIM_DEVICES=2, PYTORCH_CUDA_ALLOC_CONF=CONFIGURATIONS[request.param])
    done = subprocess.run([sys.executable, "-c", PROGRAM, folder], env=env, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    done = subprocess.run([tree / "bin/memoir", "export", "torch-snapshot", folder / "capture", "-o", folder / "ours.pickle"],
                          check=False, capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0 and (folder / "ours.pickle").exists(), done.stderr
    return folder


@pytest.fixture(scope="module")
def both(folder):
    return plain(folder / "ours.pickle"), pickle.loads((folder / "theirs.pickle").read_bytes())


def entries(trace):
    where = lambda entry: entry.get("device_free", entry.get("addr"))
    return [(entry["action"], where(entry), entry["size"], entry["stream"]) for entry in trace if entry["action"] != "snapshot"]


def test_the_trace_is_torchs(both):
    ours, theirs = both
    assert [entries(trace) for trace in ours["device_traces"]] == [entries(trace) for trace in theirs["device_traces"]][:2]
    actions = {entry["action"] for entry in ours["device_traces"][0]}
    assert {"alloc", "free_requested", "free_completed", "oom"} <= actions and len(ours["device_traces"][0]) > 100
    assert len(ours["device_traces"][1]) >= 2


def test_segments_are_torchs(both):
    keys = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream", "segment_type", "segment_pool_id")
    facts = lambda segment: {key: segment[key] for key in keys}
    blocks = lambda segment: [(block["address"], block["size"], block["state"]) for block in segment["blocks"]]
    ours, theirs = both
    by_address = lambda snapshot: sorted(snapshot["segments"], key=lambda segment: (segment["device"], segment["address"]))
    assert [facts(segment) for segment in by_address(ours)] == [facts(segment) for segment in by_address(theirs)]
    assert [blocks(segment) for segment in by_address(ours)] == [blocks(segment) for segment in by_address(theirs)]
    assert [segment["is_expandable"] for segment in by_address(ours)] == [segment["is_expandable"] for segment in by_address(theirs)]
    assert len(ours["segments"]) > 3


def test_frames_are_of_the_program(both):
    ours, theirs = both
    named = lambda entry: [(frame["filename"], frame["line"], frame["name"].rpartition(".")[2]) for frame in entry["frames"]]
    of_python = lambda trace: [named(entry) for entry in trace if entry["action"] == "alloc"]
    here = [frames for frames in of_python(ours["device_traces"][0]) if any(frame[0] == "<string>" for frame in frames)]
    assert len(here) > 20
    same = sum(a == b for a, b in zip(of_python(ours["device_traces"][0]), of_python(theirs["device_traces"][0]), strict=True))
    assert same > 20, "but for backward, whose blocks have the stack of the forward operator"
    metadata = {entry["user_metadata"] for entry in ours["device_traces"][0] if entry["action"] == "alloc"}
    assert any("category: parameter" in text for text in metadata) and any("module: " in text for text in metadata)


def test_torchs_viewer_takes_it(folder, both):
    done = subprocess.run([sys.executable, "-c", VIEWER, folder / "ours.pickle"], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    reserved = sum(segment["total_size"] for segment in both[0]["segments"])
    assert f"segments: {len(both[0]['segments'])}" in seen["segsum"]
    assert sum(int(line.rpartition(" ")[2]) for line in seen["memory"].splitlines()) == reserved
    assert "Device 1" in seen["trace"] and "active_allocated" in seen["segments"] and seen["html"] > 10000


def test_of_chosen_blocks(tree, folder, both):
    command = [tree / "bin/memoir", "export", "torch-snapshot", "--min-size", "1MiB", folder / "capture", "-o", folder / "large.pickle"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    large, whole = plain(folder / "large.pickle"), both[0]
    of_blocks = {"alloc", "free_requested", "free_completed"}
    key = lambda entry: (entry["action"], entry.get("addr"), entry["size"], entry["time_us"])
    for part, trace in zip(large["device_traces"], whole["device_traces"], strict=True):
        assert [key(entry) for entry in part if entry["action"] not in of_blocks] == [key(entry) for entry in trace if entry["action"] not in of_blocks]
        # A block is as large as it was asked for, and up to 512 bytes more.
        expected = [key(entry) for entry in trace if entry["action"] in of_blocks and entry["size"] > (1 << 20) - 512]
        assert [key(entry) for entry in part if entry["action"] in of_blocks] == expected
    assert {entry["action"] for entry in large["device_traces"][0]} >= of_blocks
    assert [(one["address"], one["total_size"], one["active_size"]) for one in large["segments"]] == [(one["address"], one["total_size"], one["active_size"]) for one in whole["segments"]]
    states = {}
    for part, segment in zip(large["segments"], whole["segments"], strict=True):
        assert [block["address"] for block in part["blocks"]] == [block["address"] for block in segment["blocks"]]
        assert part["allocated_size"] == sum(block["size"] for block in part["blocks"] if block["state"] == "active_allocated")
        for block, before in zip(part["blocks"], segment["blocks"], strict=True):
            states.setdefault((before["state"], block["state"], before["size"] >= 1 << 20), []).append(block)
    assert {("active_allocated", "active_allocated", True), ("active_allocated", "active_pending_free", False)} <= states.keys()
    assert ("active_allocated", "active_pending_free", True) not in states
    assert all("left out" in block["user_metadata"] for block in states[("active_allocated", "active_pending_free", False)])
    done = subprocess.run([sys.executable, "-c", VIEWER, folder / "large.pickle"], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


def test_no_cuda_memory(tree, tmp_path):
    program = "import torch, memoir, sys; memoir.start(sys.argv[1]); torch.ones(10); memoir.stop()"
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "capture"], env=environment(tree), check=False, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    command = [tree / "bin/memoir", "export", "torch-snapshot", tmp_path / "capture", "-o", tmp_path / "out.pickle"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "no CUDA memory was recorded there" in done.stderr
    assert not list(tmp_path.glob("out.pickle*"))
