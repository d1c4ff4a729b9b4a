"""Programs that are run plain, and with some of their modules under activation checkpointing: checkpointed.py PROGRAM [PATTERN CLASS].

PATTERN is a path with stars for its numbers, as memoir show --by checkpoint writes it; "": the whole model.
"""

import re
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


def checkpointed(forward):
    return lambda *arguments: checkpoint(forward, *arguments, use_reentrant=False)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = functional.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(width), nn.LayerNorm(width), Attention(width, 4)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(100, 128), nn.ModuleList(Block(128) for _ in range(6)), nn.Linear(128, 100)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

    def batch(self):
        return torch.randint(0, 100, (16, 128)), torch.randint(0, 100, (16 * 128,))


class Residual(nn.Module):
    """Ends with a ReLU, whose output it saves itself and the next block is given."""

    def __init__(self, channels):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        return functional.relu(x + self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x))))))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.blocks, self.head = nn.Conv2d(3, 16, 3, padding=1), nn.ModuleList(Residual(16) for _ in range(5)), nn.Linear(16, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))

    def batch(self):
        return torch.randn(8, 3, 48, 48), torch.randint(0, 10, (8,))


class Perceptron(nn.Module):
    """Blocks begin with a dropout, that does not save what it is given, and end with a ReLU."""

    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(64, 256), nn.Linear(256, 10)
        self.blocks = nn.Sequential(*(nn.Sequential(nn.Dropout(0.1), nn.Linear(256, 512), nn.Tanh(), nn.Linear(512, 256), nn.ReLU()) for _ in range(6)))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

    def batch(self):
        return torch.randn(2048, 64), torch.randint(0, 10, (2048,))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = {"transformer": Transformer, "conv_net": ConvNet, "perceptron": Perceptron}[sys.argv[1]]()
    if len(sys.argv) > 2:
        chosen = [module for path, module in model.named_modules()
                  if re.sub(r"(?<![^.])\d+(?![^.])", "*", path) == sys.argv[2] and type(module).__name__ == sys.argv[3]]
        assert chosen
        for module in chosen:
            module.forward = checkpointed(module.forward)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for _ in range(3):
        x, y = model.batch()
        loss = functional.cross_entropy(model(x).flatten(0, -2), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
