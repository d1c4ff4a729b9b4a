"""FSDP of the older kind and of the newer one: `sharded.py 1` and `sharded.py 2`."""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

STEPS, WIDTH = 12, 128

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
model = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(3)]).cuda()
if sys.argv[1] == "1":
    model = FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), device_id=device)
else:
    for block in model:
        fully_shard(block)
    fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(STEPS):
    model(torch.ones(32, WIDTH, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
