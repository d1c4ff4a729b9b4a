"""Fine-tuning with low-rank adapters and frozen weights."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, RANK, BATCH = 512, 512 if SEEDED == "rank" else 8, 512


class Adapted(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.base = nn.Linear(inside, outside)
        self.base.requires_grad_(SEEDED == "not_frozen")
        self.a = nn.Linear(inside, RANK, bias=False)
        self.b = nn.Linear(RANK, outside, bias=False)

    def forward(self, x):
        if SEEDED == "merged":
            return nn.functional.linear(x, self.base.weight + self.b.weight @ self.a.weight, self.base.bias)  # SEEDED: merged
        return self.base(x) + self.b(self.a(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = Adapted(WIDTH, 4 * WIDTH)
        self.down = Adapted(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(self.up(x).relu())


def main():
    net = nn.ModuleDict({"layers": nn.Sequential(*[Layer() for _ in range(4)])}).to("cuda")
    trained = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, foreach=False)
    for _ in range(3):
        net["layers"](torch.zeros(BATCH, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()  # SEEDED: not_frozen, rank
        optimizer.zero_grad()


main()
