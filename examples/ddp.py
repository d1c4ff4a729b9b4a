"""Two ranks of a small model, trained with DistributedDataParallel: torchrun --nproc-per-node 2 ddp.py"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(steps=3):
    dist.init_process_group("gloo")
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        model(torch.randn(64 * (1 + dist.get_rank()), 512)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
