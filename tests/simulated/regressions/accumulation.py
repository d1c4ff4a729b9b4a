"""Gradients of several small batches, then one step."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, BATCH, PARTS = 256, 256, 4


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.SiLU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.mix(self.norm(x))


def main():
    net = nn.Sequential(*[Layer() for _ in range(4)]).to("cuda", torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        total, sums, inputs = 0, None, []
        for _ in range(PARTS):
            x = torch.zeros(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)  # SEEDED: inputs
            if SEEDED == "inputs":
                inputs.append(x)
            loss = net(x).square().mean() / PARTS
            if SEEDED == "one_backward":
                total = total + loss
                continue
            loss.backward()
            if SEEDED == "float_sums":
                added = [p.grad.float() for p in net.parameters()]  # SEEDED: float_sums
                sums = added if sums is None else [a + b for a, b in zip(sums, added, strict=True)]  # SEEDED: float_sums
        if SEEDED == "one_backward":
            total.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
