"""Memory of inductor's code for a GPU belongs to the program's lines and modules, with CUDA graphs or without."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = '''
import sys, torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)
    def forward(self, x):
        wide = torch.nn.functional.gelu(self.up(x))  # wide
        near = torch.softmax(wide, -1) * wide  # near
        return x + self.down(near)  # down

torch.manual_seed(0)
model = torch.nn.Sequential(Block(), Block()).cuda()
fast = torch.compile(model, mode=sys.argv[1])
for _ in range(3):
    model.zero_grad()  # gradients are outputs of a CUDA graph, which the next step overwrites
    torch.compiler.cudagraph_mark_step_begin()
    fast(torch.ones(32, 64, device="cuda")).sum().backward()
'''


@pytest.fixture(scope="module")
def caches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("caches")
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}


# The last one's code is from inductor's cache, in which partitions for CUDA graphs have no map of their lines.
@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "reduce-overhead, again"])
def test_lines_and_modules(tree, tmp_path_factory, caches, mode):
    # One folder for all: code from a cache names the program's file as it was when it was generated.
    mode, _, again = mode.partition(", ")
    folder = tmp_path_factory.getbasetemp() / "compiled"
    folder.mkdir(exist_ok=True)
    program, capture = folder / "program.py", folder / f"{mode}{again}"
    program.write_text(PROGRAM)
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", capture, "--", sys.executable, program, mode]
    done = subprocess.run(command, env=caches, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]

    def show(by):
        done = subprocess.run([tree / "bin" / "memoir", "show", "--json", "--by", by, "--device", "cuda:0", capture], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    lines = {row["line"]: row for row in show("line")["lines"] if (row["file"] or "").endswith("program.py")}
    numbers = {line.rpartition("# ")[2]: number for number, line in enumerate(PROGRAM.split("\n"), 1) if "  # " in line}
    assert lines[numbers["near"]]["allocated_bytes"] + lines[numbers["wide"]]["allocated_bytes"] >= 2 * 2 * 32 * 256 * 4
    inside = sum(lines[numbers[marker]]["allocated_bytes"] for marker in ("wide", "near", "down"))
    assert inside >= 2 * 2 * 4 * 32 * 256 * 4
    # From the cache: of gradients of biases, which are operations of backward alone, nothing is known.
    generated = [row["allocated_bytes"] for row in show("line")["lines"] if (row["file"] or "").startswith(caches["TORCHINDUCTOR_CACHE_DIR"])]
    assert sum(generated) <= (3 * 2 * 4 * 512 if again else 0)
    assert lines[numbers["near"]]["function"] == "Block.forward" and lines[numbers["near"]]["via"]
    assert {"0", "1"} <= {row["path"].partition(".")[0] for row in show("module")["modules"] if row["kind"] == "named" and row["allocated_bytes"] > 0}
    assert any(row["name"].startswith("Torch-Compiled Region") and row["allocated_bytes"] > 0 for row in show("region")["regions"])
    (frame,) = show("compiled")["frames"]
    assert (frame["id"], frame["calls"], frame["reason"], frame["failure"]) == ("0/0", 3, None, None)
    (device,) = frame["devices"]
    assert device["device"] == "cuda:0" and device["allocated_bytes"] >= 2 * 4 * 32 * 256 * 4 and device["saved_bytes"] >= 32 * 256 * 4
