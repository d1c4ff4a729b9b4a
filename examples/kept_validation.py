"""A training loop with a mistake that many have made: validation without torch.no_grad(), its results kept. docs/finding_a_leak.md finds it.

    memoir run -o kept -- python examples/kept_validation.py [--mended]
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, words=1000, width=128, layers=2, classes=10):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def main():
    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        tokens, classes = torch.randint(0, 1000, (16, 64)), torch.randint(0, 10, (16,))
        F.cross_entropy(model(tokens), classes).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.profiler.record_function("validate"), torch.set_grad_enabled("--mended" not in sys.argv):
        scores = [model(torch.randint(0, 1000, (16, 64))) for _ in range(8)]
        print(torch.cat(scores).argmax(1).float().mean().item())


if __name__ == "__main__":
    main()
