"""Trains a small model with DistributedDataParallel: torchrun --nproc-per-node 8 one_rank_keeps.py

Rank 3 keeps the scores of every step for a table of examples that it never writes: a leak on one rank of the job.
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Classifier(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(x + self.body(x))


def train(steps=24, width=512, classes=4096, batch=512):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = DistributedDataParallel(Classifier(width, classes).cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    examples = []
    for _ in range(steps):
        scores = model(torch.randn(batch, width, device="cuda"))
        loss = nn.functional.cross_entropy(scores, torch.randint(classes, (batch,), device="cuda"))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if dist.get_rank() == 3:
            examples.append(scores.detach())
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
