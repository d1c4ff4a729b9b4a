"""Memory of what inductor generates for a GPU is of the program's lines and modules, with CUDA graphs or without."""

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


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_lines_and_modules(tree, tmp_path, caches, mode):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
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
    assert lines[numbers["near"]]["function"] == "Block.forward" and lines[numbers["near"]]["via"]
    assert {"0", "1"} <= {row["path"].partition(".")[0] for row in show("module")["modules"] if row["kind"] == "named" and row["allocated_bytes"] > 0}
    assert any(row["name"].startswith("Torch-Compiled Region") and row["allocated_bytes"] > 0 for row in show("region")["regions"])
