"""Activations that backward computes again, in both of torch's ways."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

STEPS, WIDTH = 12, 128


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + nn.functional.dropout(self.down(nn.functional.gelu(self.up(self.norm(x)))), 0.1)


layers = nn.ModuleList(Layer() for _ in range(4)).cuda()
optimizer = torch.optim.AdamW(layers.parameters())
for _ in range(STEPS):
    x = torch.zeros(64, WIDTH, device="cuda", requires_grad=True)
    for number, layer in enumerate(layers):
        x = checkpoint(layer, x, use_reentrant=number % 2 == 0)
    optimizer.zero_grad()
    x.square().mean().backward()
    optimizer.step()
