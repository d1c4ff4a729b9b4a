"""Snapshots inside of a step that the capture only names (docs/always_on.md): what they have is what torch says is allocated at that instant."""

import json
import subprocess
import sys

# 30 steps alike, then one with a snapshot of the program's in its middle, one with a snapshot that a shell asks for, and some more.
REPEATS = """
import os, time, torch, memoir
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randn(64, 256, device="cuda")
def step(number, in_the_middle):
    memoir.step(number)
    loss = model(batch).square().sum()
    in_the_middle()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
def nothing(): pass
def by_the_program():
    print(memoir.snapshot(), torch.cuda.memory_allocated(), flush=True)
def by_the_control_file():
    before = torch.cuda.memory_allocated()
    open(os.path.join(memoir.output_dir(), "control"), "w").write("snapshot")
    folder = os.path.join(memoir.output_dir(), "snapshots", "0002")
    while not os.path.isdir(folder) or not os.listdir(folder): time.sleep(0.01)
    print(folder, torch.cuda.memory_allocated(), flush=True)
    assert torch.cuda.memory_allocated() == before
for number in range(36):
    step(number, {30: by_the_program, 32: by_the_control_file}.get(number, nothing))
"""


def show(tree, what, *options):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", *options, what], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def gpu(report):
    (device,) = [device for device in report["devices"] if device["device"] == "cuda:0"]
    return device


def test_has_what_torch_has_allocated(tree, tmp_path):
    program, capture = tmp_path / "repeats.py", tmp_path / "capture"
    program.write_text(REPEATS)
    command = [tree / "bin" / "memoir", "run", "-q", "--detail", "auto", "--simulate", "h100", "-o", capture, "--", sys.executable, program]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    taken = [line.split() for line in done.stdout.splitlines()]
    assert len(taken) == 2
    known = show(tree, capture)["processes"][0]["known_steps"]
    assert known["steps"] == 36 and known["steps_in_full"] < 18, known
    for folder, allocated in taken:
        for by in ("category", "operator", "line"):
            device = gpu(show(tree, folder, "--at", "end", "--by", by, "--top", "0"))
            assert device["live_bytes"] == int(allocated), (folder, by)
            (rows,) = [value for key, value in device.items() if isinstance(value, list) and key != "largest_blocks"]
            assert sum(row["bytes"] for row in rows) == int(allocated), (folder, by)
