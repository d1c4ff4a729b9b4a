"""Training that ends inside backward, the second time that the gradient of a layer in the middle comes: ended.py MODEL HOW.

HOW: mark (it goes on), kill (SIGKILL), oom (asks for more than there is, on a GPU). With `first` behind it the first time.
"""

import os
import signal
import sys

import torch
from torch import nn
from torch.nn import functional as F

import memoir
from programs import Transformer

DEVICE = torch.device(os.environ.get("DEVICE", "cpu"))


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.blocks, self.head = nn.Conv2d(3, 16, 3, padding=1), nn.ModuleList(Residual(16) for _ in range(6)), nn.Linear(16, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


def end(how):
    if how == "mark":
        memoir.mark("cut")
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        torch.empty(1 << 42, device=DEVICE)


def main():
    torch.manual_seed(0)
    model = {"transformer": lambda: Transformer(layers=6), "resnet": ResNet}[sys.argv[1]]().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    how, at = sys.argv[2], 1 if "first" in sys.argv else 2
    calls = 0

    def watch(gradient):
        nonlocal calls
        calls += 1
        if calls == at:
            end(how)

    model.blocks[3].register_forward_hook(lambda module, given, result: result.register_hook(watch) and None)
    for _ in range(3):
        if sys.argv[1] == "resnet":
            x, y = torch.randn(16, 3, 32, 32, device=DEVICE), torch.randint(0, 10, (16,), device=DEVICE)
            loss = F.cross_entropy(model(x), y)
        else:
            x = torch.randint(0, 500, (8, 64), device=DEVICE)
            loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
