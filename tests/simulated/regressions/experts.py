"""A mixture of experts in bfloat16, each with a capacity."""

import sys

import torch
from torch import nn

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, TOKENS, LAYERS = 256, 4096, 2
EXPERTS = 16 if SEEDED == "more_experts" else 8
CAPACITY = (3 if SEEDED == "capacity" else 1) * TOKENS // 8


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))  # SEEDED: capacity


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        scores = self.router(x).softmax(-1)
        if SEEDED == "dense":
            outputs = torch.stack([expert(x) for expert in self.experts])
            return torch.einsum("te,etw->tw", scores, outputs)
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            chosen = torch.arange(CAPACITY, device=x.device) % TOKENS
            result = result.index_add(0, chosen, expert(x[chosen]) * scores[chosen, number, None])
        return result


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Mixture() for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def main():
    net = Net().to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(net.parameters(), foreach=False)
    for _ in range(3):
        x = torch.ones(TOKENS, WIDTH, device="cuda", dtype=torch.bfloat16)
        net(x).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
