"""Programs whose reports the tests of this folder open."""

# On the simulated GPU: a model, an optimizer, steps, and a mark.
TRAINING = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Sequential(nn.Linear(512, 512), nn.GELU()), nn.Linear(512, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    with torch.profiler.record_function("forward"):
        loss = model(torch.randn(512, 256, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 1:
        import memoir
        memoir.mark("after two steps")
"""

# Ranks of a job, of which the last keeps what it computes.
RANKS = """
import os
import subprocess
import sys

if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "3"}) for rank in range(3)]
    sys.exit(max(rank.wait() for rank in ranks))

import time

import torch
from torch import nn

model = nn.Linear(256, 256).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
for step in range(8):
    result = model(torch.randn(4096, 256, device="cuda"))
    result.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if os.environ["RANK"] == "2":
        kept.append(result.detach().clone())
    time.sleep(0.02)
"""

# One process with two GPUs.
TWO_GPUS = """
import torch
from torch import nn

models = [nn.Linear(256, 256, device=f"cuda:{i}") for i in range(2)]
for step in range(6):
    for i, model in enumerate(models):
        model(torch.randn(512 * (i + 1), 256, device=f"cuda:{i}")).mean().backward()
"""

# Names that would do something, were they not text.
EVIL = """
import memoir
import torch
from torch import nn

NAMES = ['</script><script>document.body.dataset.evil=1</script>', '<img src=x onerror=alert(1)>', 'quote"\\'&amp;', 'new\\nline',
         '\\x1b[31mred', '\\U0001f525 fire', '\\u202eright to left', '\\u05e9\\u05dc\\u05d5\\u05dd', '{{constructor}}', 'a;b=c#d']


class Evil(nn.Module):
    def __init__(self):
        super().__init__()
        for name in NAMES:
            self.add_module(name.replace('.', '_'), nn.Linear(32, 32))

    def forward(self, x):
        for child in self.children():
            x = child(x)
        return x


model = Evil()
for name in NAMES:
    memoir.mark(name)
    with torch.profiler.record_function(name):
        model(torch.randn(64, 32)).sum().backward()
"""

# A few tensors of no module.
PLAIN = """
import torch

kept = [torch.empty(1000 * (i + 1)) for i in range(5)]
"""

# A model whose batch grows until a request is refused in a forward pass that checkpointing would have made fit.
OUT_OF_MEMORY = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return x + self.feed_forward(self.norm(x))


class Model(nn.Module):
    def __init__(self, width=512, layers=8):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in (1, 2, 3, 4, 5, 12):
    loss = model(torch.randn(batch * 1024, 512, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
