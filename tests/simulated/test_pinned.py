"""Page-locked host memory: what the program asked torch for, by operator and module, and nothing of it changes."""

import json
import subprocess
import sys

from simulation import environment

PROGRAM = '''
import gc, json, sys, threading, torch
MIB = 1 << 20
asked = []

def counted(tensor):
    assert tensor.is_pinned()
    asked.append(tensor.untyped_storage().nbytes())
    return tensor

class Stage(torch.nn.Module):
    def forward(self, x):
        return counted(x.pin_memory())

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = Stage()
    def forward(self, x):
        return self.stage(x).to("cuda", non_blocking=True)

plain = torch.ones(3 * MIB + 5, dtype=torch.uint8)
pinned = counted(plain.pin_memory())
kept = counted(torch.empty(1000, pin_memory=True))
Net()(torch.ones(1000))
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    there = pinned.to("cuda", non_blocking=True)       # torch notes the stream by the block's context
    back = torch.empty(there.shape, dtype=torch.uint8, pin_memory=True)
    back.copy_(there, non_blocking=True)
counted(back)
address = pinned.data_ptr()
held = [pinned]
del pinned
worker = threading.Thread(target=held.clear)
worker.start()
worker.join()
torch.cuda.synchronize()
again = counted(torch.empty(3 * MIB + 9, dtype=torch.uint8, pin_memory=True))   # of the block that is free again
data = torch.utils.data.TensorDataset(torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64))
for workers in (0, 2):
    for (batch,) in torch.utils.data.DataLoader(data, batch_size=16, pin_memory=True, num_workers=workers):
        counted(batch).to("cuda", non_blocking=True)
# As torch's own copies between tensors that overlap, and slices: the context is that of the whole.
part = kept[10:]
part.to("cuda", non_blocking=True)
del batch, part
torch.cuda.synchronize()
gc.collect()
stats = torch.cuda.host_memory_stats()
shown = {key: value for key, value in stats.items() if "time" not in key}
live = [t.untyped_storage().nbytes() for t in (kept, back, again)]
print(json.dumps({"asked": asked, "live": live, "reused": again.data_ptr() == address, "stats": shown}))
'''


def run(tree, *before):
    done = subprocess.run([*map(str, before), sys.executable, "-c", PROGRAM], env=environment(tree), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def shown(tree, capture, *arguments):
    done = subprocess.run([tree / "bin/memoir", *arguments, capture], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_was_asked_is_recorded_and_nothing_changes(tree, tmp_path):
    bare, _ = run(tree)
    found, errors = run(tree, tree / "bin/memoir", "run", "-q", "-o", tmp_path / "capture", "--")
    assert found == bare, "torch's own numbers of pinned memory, its addresses' reuse, are those without Memoir"
    assert found["reused"] and not errors

    events = [json.loads(line) for line in shown(tree, tmp_path / "capture", "export", "events").splitlines()]
    pinned = [event for event in events if event.get("device") == "pinned"]
    assert sorted(event["bytes"] for event in pinned if event["event"] == "allocate") == sorted(found["asked"])
    report = json.loads(shown(tree, tmp_path / "capture", "show", "--json"))
    (device,) = [row for row in report["devices"] if row["device"] == "pinned"]
    assert device["allocated_bytes"] == sum(found["asked"]) and device["live_bytes_at_end"] == sum(found["live"])
    assert report["unmatched_deallocations"] == report["dropped_events"] == 0

    by_operator = {row["name"]: part for row in report["operators"] for part in row.get("devices", []) if part["device"] == "pinned"}
    assert sum(part["allocated_bytes"] for part in by_operator.values()) == sum(found["asked"])
    assert "aten::pin_memory" in " ".join(by_operator) or "aten::_pin_memory" in " ".join(by_operator)
    text = shown(tree, tmp_path / "capture", "show", "--device", "pinned")
    assert "pin_memory" in text
    modules = shown(tree, tmp_path / "capture", "show", "--device", "pinned", "--by", "module")
    assert "stage" in modules
