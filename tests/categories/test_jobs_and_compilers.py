"""Categories in jobs of two ranks that share parameters (FSDP2), in compiled programs and around captured graphs."""

import json
import os
import subprocess
import sys

import pytest

SHARDED = """
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
for layer in (model[0], model[2]):
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
for _ in range(3):
    model(torch.randn(16, 256)).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""
PARAMETERS = 4 * (256 * 512 + 512 + 512 * 256 + 256 + 256 * 64 + 64)  # bytes of the whole model

COMPILED = """
import sys, torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(256, 512), torch.nn.Linear(512, 256)
    def forward(self, x):
        return x + self.b(torch.nn.functional.gelu(self.a(x)))

torch.manual_seed(0)
model = torch.nn.Sequential(Block(), Block()).cuda()
optimizer = torch.optim.AdamW(model.parameters())
run = model if sys.argv[1] == "eager" else torch.compile(model, backend=sys.argv[1])
for _ in range(3):
    run(torch.randn(64, 256, device="cuda")).pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def categories(tree, capture, *options):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", "--by", "category", *options, capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {(row["category"], row["detail"]): row for row in json.loads(done.stdout)["categories"]}


def test_parameters_that_are_gathered_are_not_counted_twice(tree, tmp_path):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(SHARDED)
    command = [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
               program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for rank in ("0", "1"):
        found = categories(tree, capture, "--rank", rank, "--device", "cpu")
        assert found["PARAMETER", ""]["net_bytes"] == PARAMETERS // 2
        assert found["PARAMETER", "gathered"]["net_bytes"] == 0
        assert found["PARAMETER", "gathered"]["allocated_bytes"] >= 2 * 3 * PARAMETERS * 0.9  # forward and backward of three steps
        assert found["OPTIMIZER_STATE", ""]["net_bytes"] >= PARAMETERS


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_workspace_is_one_in_every_mode(tree, tmp_path, backend):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(COMPILED)
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", capture, "--", sys.executable, program, backend]
    # With an empty cache inductor autotunes kernels, whatever earlier programs have cached.
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")})
    assert done.returncode == 0, done.stderr
    found = categories(tree, capture, "--device", "cuda:0")
    # cuBLAS's on the streams' two threads and cuBLASLt's: never freed, and never autograd's.
    assert found["TEMPORARY", "workspace"]["net_bytes"] >= 32 << 20
    assert found.get(("AUTOGRAD_DETAIL", ""), {"net_bytes": 0})["net_bytes"] == 0
    assert ("TEMPORARY", "autotuning") in found or backend != "inductor"


COMPRESSED = """
import torch, torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(3)]))
model.register_comm_hook(None, default_hooks.fp16_compress_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.ones(4, 256)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_buckets_of_which_a_hook_reduces_a_copy(tree, tmp_path):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(COMPRESSED)
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    gradients = 4 * 3 * (256 * 256 + 256)
    found = categories(tree, capture)
    # Made in the constructor and, in another order, behind the first backward; and the copy that is reduced.
    assert found["GRADIENT", "bucket"]["allocated_bytes"] >= 2 * gradients + gradients // 2
    assert found["INPUT", ""]["allocated_bytes"] < gradients


CAPTURED = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Dropout()).cuda()
static = torch.ones(64, 256, device="cuda")
with torch.no_grad():
    model(static)
    graphs = [torch.cuda.CUDAGraph() for _ in range(2)]
    for graph in graphs:
        with torch.cuda.graph(graph):
            result = model(static)
    for graph in graphs:
        graph.replay()
"""


def test_the_random_generator_of_a_captured_graph_is_no_input(tree, tmp_path):
    """Its seed and its offset, a block of 512 bytes each, with the first graph."""
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(CAPTURED)
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", capture, "--", sys.executable, program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = categories(tree, capture, "--device", "cuda:0")
    assert found["INPUT", ""]["allocated_bytes"] == 64 * 256 * 4
    assert found["BUFFER", "random generator"]["allocated_bytes"] == 2 * 512
