"""Training that evaluates its model first: so many calls of it, before the optimizer's first step, that they are taken for steps until then."""

import torch
from torch import nn

BATCHES, STEPS, WIDTH = 20, 14, 64

model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
with torch.no_grad():
    for _ in range(BATCHES):
        nn.functional.cross_entropy(model(torch.ones(32, WIDTH, device="cuda")), torch.zeros(32, dtype=torch.long, device="cuda")).item()
for _ in range(STEPS):
    loss = nn.functional.cross_entropy(model(torch.ones(16, WIDTH, device="cuda")), torch.zeros(16, dtype=torch.long, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
