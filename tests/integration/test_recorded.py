"""The contents of a recording, claim by claim, read back through `memoir export events` and `memoir show`."""

import pytest

from recording import counts, events, record, show

VALUES = '''
import torch
x, y = torch.ones(2, 3), torch.ones(3, 2).t()
torch.add(x, y, alpha=2)
x.add_(y)
torch.clamp(x, None, 5.0)
torch.cat([x, y, x])
torch.linspace(0, 1, 5)
'''


@pytest.fixture(scope="module")
def values(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("values"), VALUES)
    assert done.returncode == 0, done.stderr
    return events(tree, capture)


def only(found, name, kind="range_begin", depth=0):
    rows = [e for e in found if e["event"] == kind and e.get("name") == name and e["depth"] == depth]
    assert len(rows) == 1, (name, len(rows))
    return rows[0]


def test_name_with_overload_nesting_and_ends(values):
    begin = only(values, "aten::add.Tensor")
    end = next(e for e in values if e["event"] == "range_end" and e["call"] == begin["call"])
    assert end["tick"] > begin["tick"] and end["thread"] == begin["thread"]


def test_nesting(values):
    begin = next(e for e in values if e["event"] == "range_begin" and e["name"] == "aten::ones")
    end = next(e for e in values if e["event"] == "range_end" and e["call"] == begin["call"])
    inner = [e for e in values if e["event"] == "range_begin" and begin["tick"] < e["tick"] < end["tick"]]
    assert [(e["name"], e["depth"]) for e in inner] == [("aten::empty.memory_format", 1), ("aten::fill_.Scalar", 1)]


def test_tensors_with_identity_shape_dtype_and_device(values):
    begin = only(values, "aten::add.Tensor")
    x, y = begin["tensors"]
    assert begin["kinds"] == "TTi"
    assert x["sizes"] == [2, 3] and "strides" not in x and x["dtype"] == "float32" and x["device"] == "cpu"
    assert y["sizes"] == [2, 3] and y["strides"] == [1, 2]
    assert x["storage_bytes"] == y["storage_bytes"] == 24 and x["storage"] != y["storage"]
    made = next(e for e in values if e["event"] == "allocate" and e["bytes"] == 24 and e["address"] == x["storage"])
    assert made["operator"] == "aten::ones" and made["leaf"] == "aten::empty.memory_format"


def test_results(values):
    begin = only(values, "aten::add.Tensor")
    end = next(e for e in values if e["event"] == "range_end" and e["call"] == begin["call"])
    assert end["kinds"] == "T" and end["tensors"][0]["sizes"] == [2, 3]
    assert end["tensors"][0]["storage"] not in {t["storage"] for t in begin["tensors"]}


def test_scalars_none_and_lists(values):
    assert only(values, "aten::clamp")["kinds"] == "TNd"
    cat = only(values, "aten::cat")
    assert cat["kinds"] == "Li" and cat["list_lengths"] == [3] and len(cat["tensors"]) == 3
    assert cat["tensors"][0] == cat["tensors"][2] != cat["tensors"][1]
    assert only(values, "aten::linspace")["kinds"].startswith("iii")


def test_which_arguments_are_written_to(values):
    assert only(values, "aten::add_.Tensor")["written"] == [True, False, False]
    assert only(values, "aten::add.Tensor")["written"] == [False, False, False]


BACKWARD = '''
import torch
w = torch.ones(3, requires_grad=True)
with torch.profiler.record_function("my phase"):
    loss = (w * 2).sum()
loss.backward()
'''


def test_sequence_numbers_tie_backward_to_forward(tree, tmp_path):
    capture, done = record(tree, tmp_path, BACKWARD)
    found = events(tree, capture)
    forward = next(e for e in found if e["event"] == "range_begin" and e["name"] == "aten::mul.Tensor")
    backward = next(e for e in found if e["event"] == "range_begin" and e["name"] == "MulBackward0" and e["source"] == "backward")
    assert backward["sequence"] == forward["sequence"]
    assert backward["forward_thread"] > 0
    user = next(e for e in found if e["event"] == "range_begin" and e["name"] == "my phase")
    assert user["source"] == "user"


STRANGERS = '''
import mmap, tempfile, numpy, torch
array = numpy.ones(1000, dtype=numpy.float32)
torch.from_numpy(array).sum()
shared = torch.ones(500).share_memory_()
shared.sum()
mapped = tempfile.NamedTemporaryFile()
mapped.write(bytes(4096)); mapped.flush()
torch.from_file(mapped.name, size=1024).sum()
'''


def test_storages_from_elsewhere_are_their_own_kind(tree, tmp_path):
    capture, done = record(tree, tmp_path, STRANGERS)
    assert done.returncode == 0, done.stderr
    seen = [e["tensor"]["storage_bytes"] for e in events(tree, capture) if e["event"] == "first_seen"]
    for size in (4000, 2000, 4096):
        assert size in seen
    report = show(tree, capture)
    assert report["devices"][0]["first_seen"]["bytes"] >= 10_096
    assert 4000 not in [e["bytes"] for e in events(tree, capture) if e["event"] == "allocate"]


THREADS = '''
import threading, torch
held = []
def work():
    torch.add(torch.ones(1000), 1)
    held.append(torch.ones(2000))
thread = threading.Thread(target=work)
thread.start(); thread.join()
held.clear()                    # freed by another thread than the one that allocated
'''


def test_every_thread(tree, tmp_path):
    capture, done = record(tree, tmp_path, THREADS)
    found = events(tree, capture)
    made = next(e for e in found if e["event"] == "allocate" and e["bytes"] == 8000)
    freed = next(e for e in found if e["event"] == "deallocate" and e["address"] == made["address"] and e["serial"] == made["serial"])
    assert made["thread"] != freed["thread"]


MARKS = '''
import torch, memoir
for step in range(3):
    memoir.step()
    torch.ones(100)
memoir.mark("after the loop")
kept = torch.ones(5000)
'''


def test_marks_and_steps(tree, tmp_path):
    capture, done = record(tree, tmp_path, MARKS)
    assert done.returncode == 0, done.stderr
    found = events(tree, capture)
    assert [e["step"] for e in found if e["event"] == "step"] == [0, 1, 2]
    assert [e["name"] for e in found if e["event"] == "mark"] == ["after the loop"]
    at_mark = show(tree, capture, "--at", "mark:after the loop")
    at_end = show(tree, capture, "--at", "end")
    assert at_end["devices"][0]["live_bytes"] - at_mark["devices"][0]["live_bytes"] == 20_000


TRANSFORMER = '''
import torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 16, 64)).pow(2).mean().backward()
    optimizer.step()
'''


def test_at_most_one_percent_of_a_transformer_is_unattributed(tree, tmp_path):
    capture, done = record(tree, tmp_path, TRANSFORMER)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    rows = {row["name"]: row for row in report["operators"]}
    allocated = sum(row["allocated_bytes"] for row in rows.values())
    assert allocated == report["devices"][0]["allocated_bytes"] > 1 << 20
    assert rows.get("(no operator)", {"allocated_bytes": 0})["allocated_bytes"] <= allocated / 100
    assert counts(report)["aten::linear"] >= 3 * 2 * 3


UNCHANGED = '''
import sys, torch, weakref
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(5):
    optimizer.zero_grad()
    x = torch.randn(4, 16)
    gone = weakref.ref(x.untyped_storage())
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    del x
print(loss.item().hex(), [p.detach().sum().item().hex() for p in model.parameters()], gone() is None)
'''


def test_results_are_bit_equal_and_nothing_lives_longer(tree, tmp_path):
    import subprocess
    import sys

    capture, done = record(tree, tmp_path, UNCHANGED)
    alone = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True)
    assert done.stdout == alone.stdout and "True" in done.stdout
    assert counts(show(tree, capture))["aten::linear"] == 10


EMPTY_BLOCKS = '''
import torch
x = torch.randn(1000, 256, requires_grad=True)
for _ in range(5):
    torch.nn.functional.gelu(x).sum().backward()    # oneDNN frees a null pointer here
'''


def test_every_deallocation_has_its_allocation(tree, tmp_path):
    capture, done = record(tree, tmp_path, EMPTY_BLOCKS)
    report = show(tree, capture)
    assert counts(report)["aten::gelu"] == 5
    assert report["unmatched_deallocations"] == 0


DEEP = '''
import sys, torch
names = [torch.profiler.record_function(f"level {i}") for i in range(int(sys.argv[1]))]
for name in names: name.__enter__()
torch.ones(1000)
for name in reversed(names): name.__exit__(None, None, None)
torch.zeros(1000)
'''


def test_deeply_nested_ranges(tree, tmp_path):
    capture, done = record(tree, tmp_path, DEEP, 3000)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert counts(report)["aten::ones"] == counts(report)["aten::zeros"] == 1 and report["dropped_events"] == 0


def test_ranges_nested_beyond_the_limit_are_counted(tree, tmp_path):
    capture, done = record(tree, tmp_path, DEEP, 9000)
    assert done.returncode == 0, done.stderr
    report = show(tree, capture)
    assert "aten::ones" not in counts(report) and counts(report)["aten::zeros"] == 1
    assert report["dropped_events"] >= 9000 - 8190
    assert report["devices"][0]["allocated_bytes"] == 8000, "allocations are recorded, whatever is open"


STORAGES = """
import copy, torch
model = torch.nn.Linear(100, 100, bias=False)
copies = [copy.deepcopy(model.state_dict()) for _ in range(2)]
storage = torch.UntypedStorage(50000)
del storage
"""


def test_storages_that_python_makes(tree, tmp_path):
    """They come from torch's default allocator, and not from the allocator that operators use."""
    capture, done = record(tree, tmp_path, STORAGES)
    assert done.returncode == 0, done.stderr
    found = [event for event in events(tree, capture) if event["event"] == "allocate"]
    assert sorted(event["bytes"] for event in found if event["bytes"] > 10000) == [40000] * 3 + [50000]
    device, = show(tree, capture)["devices"]
    assert device["live_bytes_at_end"] >= 3 * 40000 and device["first_seen"]["storages"] == 0
