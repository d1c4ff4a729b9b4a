"""One rank of a pipeline, with a fault on this rank only: odd_rank.py STAGE STAGES WHAT [SEED]

WHAT: "plain", "varied" (random lengths, as in healthy data) or one of ODDITIES, from step BEGINS on where it can begin late.
"""

import ctypes
import os
import random
import signal
import sys

import torch
from torch.utils.checkpoint import checkpoint

WIDTH, WORDS, BATCH, LENGTH, STEPS, BEGINS = 512, 4096, 4, 256, 16, 6
ODDITIES = ("longer", "leak", "grad", "uneven", "copy", "wide", "workspace", "fewer", "precision", "kept_activations", "adam", "hook", "killed")


class Block(torch.nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, wide)
        self.down = torch.nn.Linear(wide, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Loss(torch.nn.Module):
    def forward(self, y):
        return y.float().square().mean()


class Stage(torch.nn.Module):
    def __init__(self, number, stages, what):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH) if number == 0 else None
        self.blocks = torch.nn.ModuleList(Block((5 if what == "wide" else 4) * WIDTH) for _ in range(3))
        self.logits = torch.nn.Linear(WIDTH, WORDS) if number == stages - 1 else None
        self.loss = Loss()
        self.checkpoints = what != "kept_activations"

    def forward(self, x):
        x = self.embedding(x) if self.embedding is not None else x
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpoints and self.training else block(x)
        return self.logits(x) if self.logits is not None else x


def inputs(number, batch, length):
    if number == 0:
        return torch.randint(WORDS, (batch, length), device="cuda")
    return torch.randn(batch, length, WIDTH, device="cuda")


def evaluate(model, number, forgets):
    model.eval()
    with torch.set_grad_enabled(forgets):
        scores = model(inputs(number, 2 * BATCH, LENGTH)).float().mean()
    model.train()
    return scores.item()


def main(number, stages, what, seed):
    torch.manual_seed(seed)
    lengths = random.Random(seed)
    model = Stage(number, stages, what).cuda()
    optimizer = (torch.optim.Adam if what == "adam" else torch.optim.SGD)(model.parameters(), lr=1e-3)
    kept = []
    if what == "hook":
        model.blocks[1].register_forward_hook(lambda module, given, output: kept.append(output) if BEGINS <= step < BEGINS + 4 else None)
    for step in range(5 if what == "fewer" else STEPS):
        begun = step >= BEGINS
        if what == "killed" and begun:
            os.kill(os.getpid(), signal.SIGKILL)
        batch = BATCH + 2 if what == "uneven" else BATCH
        length = 2 * LENGTH if what == "longer" and begun else LENGTH - lengths.randrange(64) if what == "varied" else LENGTH
        with torch.autocast("cuda", torch.bfloat16, enabled=what != "precision"):
            loss = model.loss(model(inputs(number, batch, length)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if what == "leak" and begun:
            kept.append(model(inputs(number, BATCH, LENGTH)).mean(dim=0))
        if what == "copy" and step == BEGINS:
            kept.append({name: value.clone() for name, value in model.state_dict().items()})
        if what == "workspace" and step == BEGINS:
            ctypes.CDLL(None).cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(192 << 20))
        if step % 4 == 3:
            evaluate(model, number, what == "grad" and begun)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 0)
