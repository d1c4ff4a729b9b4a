"""A model under torch.compile; and the cost of removing it, or of a graph break."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, BATCH = 256, 4096


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.up(x)
        return x + self.down(y * torch.sigmoid(1.7 * y))  # SEEDED: eager


def main():
    net = nn.Sequential(*[Layer() for _ in range(6)]).to("cuda", torch.bfloat16)
    run = net if SEEDED == "eager" else torch.compile(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        run(torch.zeros(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
