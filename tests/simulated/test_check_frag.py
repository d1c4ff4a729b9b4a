"""The map of segments and their unusable bytes equal torch.cuda.memory_snapshot() at the same moment, for layouts made on purpose."""

import json
import re
import subprocess
import sys

import pytest

PROGRAM = '''
import json, sys, torch, memoir
from torch import nn
MIB, expandable = 1 << 20, sys.argv[2] == "expandable"
books = {}
def take(kib): return torch.empty(kib << 10, dtype=torch.uint8, device="cuda")
def note(name):
    memoir.mark(name)
    books[name] = [segment for segment in torch.cuda.memory_snapshot() if segment["device"] == 0]
class Pins(nn.Module):
    def forward(self): return torch.ones(5 * MIB, dtype=torch.uint8, device="cuda")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pins = Pins()
    def forward(self): return self.pins()
net, kept = Net(), []
torch.cuda.init()
large = [take(4096) for _ in range(5)]
note("full segments")
del large[1], large[2]
note("holes of the large pool")
small = [take(100 + i) for i in range(40)]
del small[::2]
note("holes of the small pool")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    beside = [take(3000), take(12000)]
    beside[0].add_(1)
shared = take(30000)
shared.record_stream(side)
with torch.cuda.stream(side): shared.add_(1)
del shared
note("a block that waits, and another stream")
del beside[0]
if not expandable:
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        pooled = [take(7000), take(50000)]
    del pooled[1]
    note("a MemPool that keeps what is free")
    graph, static = torch.cuda.CUDAGraph(), torch.ones(MIB, device="cuda")
    with torch.cuda.graph(graph):
        doubled = (static * 2).sum()
    note("a graph")
torch.cuda.synchronize()
torch.cuda.empty_cache()
note("after empty_cache")
# Between and behind what is pinned: the most, one block after another.
temporaries = []
whole = take(900 << 10)
del whole
for _ in range(7):
    temporaries.append(take(100 << 10))
    kept.append(net())
for i in range(7):
    temporaries.pop()
    note(f"temporary {i}")
del kept[3:5]
note("end")
with open(sys.argv[1], "w") as file: json.dump(books, file)
'''
MIB = 1 << 20
STATES = {"active_allocated": "allocated", "active_pending_free": "waiting"}


def memoir(tree, *arguments, code=0):
    done = subprocess.run([tree / "bin/memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module", params=["", "expandable"])
def ran(request, tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("frag")
    (folder / "program.py").write_text(PROGRAM)
    command = ["run", "-q", "-o", folder / "capture", "--simulate", "l4", "--sim-memory", "4GiB", "--", "env"]
    command += ["PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"] if request.param else []
    memoir(tree, *command, sys.executable, folder / "program.py", folder / "books.json", request.param)
    return json.loads((folder / "books.json").read_text()), folder / "capture"


def blocks_of(segment):
    return [(block["address"], block["size"], STATES[block["state"]]) for block in segment["blocks"] if block["state"] != "inactive"]


def unusable(segment):
    """Free bytes next to blocks in pages that cannot be freed, and free bytes of a private pool."""
    used = sum(size for _, size, _ in blocks_of(segment))
    if tuple(segment["segment_pool_id"]) != (0, 0):
        return segment["total_size"] - used
    page = segment["total_size"]
    if segment["is_expandable"]:
        page = 2 * MIB if segment["segment_type"] == "small" else 20 * MIB
    pages = {n for address, size, _ in blocks_of(segment) for n in range((address - segment["address"]) // page, (address - segment["address"] + size - 1) // page + 1)}
    return len(pages) * page - used


def test_the_map_is_torchs_snapshot(tree, ran):
    books, capture = ran
    for name, segments in books.items():
        report = json.loads(memoir(tree, "show", "--at", f"mark:{name}", "--by", "segment", "--json", capture).stdout)
        (device,) = report["devices"]
        shown = {int(segment["address"], 16): segment for segment in device["segments"]}
        assert shown.keys() == {segment["address"] for segment in segments}, name
        for segment in segments:
            there = shown[segment["address"]]
            assert there["bytes"] == segment["total_size"] and there["pool"] == list(segment["segment_pool_id"]), name
            assert int(there["stream"], 16) == segment["stream"] and there["small"] == (segment["segment_type"] == "small"), name
            assert there["expandable"] == segment["is_expandable"], name
            assert [(int(block["address"], 16), block["bytes"], block["state"]) for block in there["blocks"]] == blocks_of(segment), name
            requested = {block["address"]: block["requested_size"] for block in segment["blocks"]}
            assert all(block["requested_bytes"] == requested[int(block["address"], 16)] for block in there["blocks"] if block["state"] == "allocated"), name
            assert there["unusable_bytes"] == unusable(segment), (name, there)
            assert sum(hole["bytes"] for hole in there["holes"]) == there["bytes"] - there["used_bytes"], name
    assert any(block["state"] == "active_pending_free" for segment in books["a block that waits, and another stream"] for block in segment["blocks"])


def test_the_numbers_of_the_check(tree, ran):
    books, capture = ran
    done = memoir(tree, "check", "frag", "--json", capture, code=3)
    (device,) = json.loads(done.stdout)["devices"]
    assert device["end"]["unusable_bytes"] == sum(map(unusable, books["end"]))
    assert device["peak"]["unusable_bytes"] == max(sum(map(unusable, segments)) for segments in books.values()) >= 100 * MIB
    assert device["end"]["reserved_bytes"] == sum(segment["total_size"] for segment in books["end"])
    for moment in (device["peak"], device["end"]):
        assert sum(place["unusable_bytes"] for place in moment["places"]) == moment["unusable_bytes"]
        assert sum(segment["unusable_bytes"] for segment in moment["segments"]) == moment["unusable_bytes"]
    assert max(point["unusable_bytes"] for point in device["over_time"]) == device["peak"]["unusable_bytes"]
    places = {tuple(place["pool"]): place for place in device["end"]["places"]}
    assert (len(places) == 3) == (not any(segment["is_expandable"] for segment in books["end"])), "the default pool, a MemPool's, a graph's"


def test_what_pins_is_named(tree, ran):
    (device,) = json.loads(memoir(tree, "check", "frag", "--json", ran[1], code=3).stdout)["devices"]
    (pin,) = [pin for pin in device["peak"]["pinned_by"] if pin["name"] == "aten::ones in pins"]
    assert pin["blocks"] in (5, 7) and pin["bytes"] == pin["blocks"] * 5 * MIB and 0 < pin["unusable_bytes"] <= device["peak"]["unusable_bytes"]
    assert 0 < pin["oldest_ns"] < device["peak"]["time_ns"]
    text = memoir(tree, "check", "frag", ran[1], code=3).stdout
    assert "aten::ones in pins" in text and "unusable of" in text
    # The time in the command is short, and of the same instant.
    time = re.search(r"^more: memoir show --at (\d+\.\d{3,9}s) --by segment ", text, re.MULTILINE)[1]
    (there,) = json.loads(memoir(tree, "show", "--at", time, "--by", "segment", "--json", ran[1]).stdout)["devices"]
    assert sum(segment["unusable_bytes"] for segment in there["segments"]) == device["peak"]["unusable_bytes"]


def test_the_map_in_the_terminal(tree, ran):
    books, capture = ran
    text = memoir(tree, "show", "--at", "mark:end", "--by", "segment", "--top", 0, capture).stdout
    lines = [line.split() for line in text.splitlines() if line.startswith("  0x")]
    assert [int(line[0], 16) for line in lines] and {int(line[0], 16) for line in lines} == {segment["address"] for segment in books["end"]}
    assert "█" in text and "·" in text
