"""A rank of a small job: rank 2 trains on four times the data, and every rank keeps a little more with each step."""

import os

import torch

torch.set_num_threads(1)
rank = int(os.environ["RANK"])
device = torch.device("cuda", rank)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).to(device)
optimizer = torch.optim.Adam(model.parameters())
kept = []
for _ in range(4):
    x = torch.randn(4096 if rank == 2 else 1024, 256, device=device)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.empty(1 << 20, device=device))
