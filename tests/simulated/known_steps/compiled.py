"""A model under torch.compile, in CUDA graphs."""

import torch
from torch import nn

STEPS, WIDTH = 14, 64


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        wide = nn.functional.gelu(self.up(x))
        return x + self.down(torch.softmax(wide, -1) * wide)


model = nn.Sequential(Layer(), Layer()).cuda()
optimizer = torch.optim.AdamW(model.parameters())
fast = torch.compile(model, mode="reduce-overhead")
for _ in range(STEPS):
    torch.compiler.cudagraph_mark_step_begin()
    loss = fast(torch.ones(128, WIDTH, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
