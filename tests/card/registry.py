"""The programs by name, and what several of them share."""

import torch
from torch import nn

MIB = 1 << 20
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def train(model, batch_of, steps=3, optimizer=None, dtype=None, loss_of=None):
    """`batch_of(step)` gives the arguments of the model."""
    model = model.cuda()
    optimizer = (optimizer or torch.optim.AdamW)(model.parameters(), lr=1e-3)
    for step in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            out = model(*batch_of(step))
            loss = loss_of(out) if loss_of else out.float().pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def encoder(width=512, layers=4, heads=8):
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def images(size, batch=16, channels=3):
    return lambda _: (torch.randn(batch, channels, size, size, device="cuda"),)
