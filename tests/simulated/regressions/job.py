"""Data-parallel training of two ranks, one of which is out of line."""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH = 256


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(3)])

    def forward(self, x):
        return self.layers(x)


def main():
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    net = Net().cuda()
    # With find_unused_parameters the buckets are never rebuilt. After a rebuild torch's NCCL watchdog frees the old buckets when its timer next runs, so that
    # equal runs have different peaks.
    trained = nn.parallel.DistributedDataParallel(net, device_ids=[torch.cuda.current_device()], find_unused_parameters=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    shown = []
    for _ in range(3):
        batch = 2048 if SEEDED == "longer" and rank == 1 else 1024
        trained(torch.zeros(batch, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if SEEDED == "logged" and rank == 0:
            shown.append(net(torch.zeros(1024, WIDTH, device="cuda")))
    dist.destroy_process_group()


main()
