"""A mixture of experts. The router's choice is made here, for kernels compute nothing: two choices in turn, or with "uneven" another in every step."""

import random
import sys

import torch
from torch import nn

STEPS, TOKENS, WIDTH, EXPERTS = 16, 256, 64, 4
UNEVEN = sys.argv[1:] == ["uneven"]


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(EXPERTS))

    def forward(self, x, counts):
        scores = self.router(x).softmax(-1)
        result = torch.zeros_like(x)
        for number, (expert, count) in enumerate(zip(self.experts, counts, strict=True)):
            if count > 0:
                chosen = torch.arange(count, device=x.device)
                result = result.index_add(0, chosen, expert(x[chosen]) * scores[chosen, number, None])
        return result


def choice(step, numbers):
    if UNEVEN:
        cuts = sorted(numbers.sample(range(1, TOKENS), EXPERTS - 1))
        return [after - before for before, after in zip([0, *cuts], [*cuts, TOKENS], strict=True)]
    return [[64, 64, 64, 64], [0, 128, 96, 32]][step % 2]


numbers = random.Random(0)
layers = nn.ModuleList(Mixture() for _ in range(2)).cuda()
optimizer = torch.optim.AdamW(layers.parameters())
for step in range(STEPS):
    x = torch.ones(TOKENS, WIDTH, device="cuda")
    for layer in layers:
        x = x + layer(x, choice(step, numbers))
    optimizer.zero_grad()
    x.square().mean().backward()
    optimizer.step()
