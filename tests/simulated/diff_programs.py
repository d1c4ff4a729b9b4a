"""A training program with one regression at a time, by name; without one it is the program as it was before.

A line that ends with `# SEEDED: NAME` is what the first line of `memoir diff` has to name.
"""

import copy
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

SEEDED = sys.argv[1] if len(sys.argv) > 1 else ""
WIDTH, LAYERS, WORDS = 128, 4, 1000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden):
        inner = self.up(self.norm(hidden))
        if SEEDED == "cached":
            self.cache = inner.detach().clone()  # SEEDED: cached
        if SEEDED == "upcast":
            inner = inner.float().relu().to(hidden.dtype)  # SEEDED: upcast
        else:
            inner = torch.relu(inner)
        return hidden + self.down(inner)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)
        if SEEDED == "head":
            self.second_head = nn.Linear(WIDTH, 2 * WORDS)

    def forward(self, ids):
        hidden = self.words(ids)
        for layer in self.layers:
            if SEEDED == "no_checkpointing" or not self.training:
                hidden = layer(hidden)
            else:
                hidden = checkpoint(layer, hidden, use_reentrant=False)
        logits = self.head(hidden)
        if SEEDED == "head":
            second = self.second_head(hidden)  # SEEDED: head
            logits = logits + second[..., :WORDS]
        return logits


def evaluate(net, ids):
    net.eval()
    with torch.set_grad_enabled(SEEDED == "no_grad"):
        guess = net(ids.repeat(4, 1)).argmax(-1)
    net.train()
    return guess.float().mean()


def main():
    torch.manual_seed(0)
    batch = 32 if SEEDED == "batch" else 16
    length = 256 if SEEDED == "sequence" else 128
    net = Net().to("cuda", torch.float32 if SEEDED == "dtype" else torch.bfloat16)
    if SEEDED == "adam":
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    averaged = copy.deepcopy(net) if SEEDED == "average" else None  # SEEDED: average
    losses, kept = [], []
    for _ in range(4):
        ids = torch.randint(0, WORDS, (batch, length), device="cuda")
        if SEEDED == "prefetch":
            kept.append(torch.zeros(256, 1024, 8, device="cuda"))  # SEEDED: prefetch
        loss = nn.functional.cross_entropy(net(ids).flatten(0, 1), ids.flatten())
        loss.backward(retain_graph=SEEDED == "retain_graph")
        if SEEDED == "clipped":
            kept = [p.grad.clone() for p in net.parameters()]  # SEEDED: clipped
        optimizer.step()  # SEEDED: adam
        optimizer.zero_grad(set_to_none=SEEDED != "zero_grad")
        if SEEDED in ("losses", "retain_graph"):
            losses.append(loss)
        if SEEDED == "outputs":
            kept.append(net(ids))
    evaluate(net, ids)
    return averaged, losses


main()
