"""Gradients of four batches, then one step of the optimizer."""

import torch
from torch import nn

BATCHES, WIDTH = 52, 64

model = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.SiLU(), nn.Linear(4 * WIDTH, WIDTH)).to("cuda", torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(BATCHES):
    x = torch.zeros(128, WIDTH, device="cuda", dtype=torch.bfloat16)
    (model(x).square().mean() / 4).backward()
    if number % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
