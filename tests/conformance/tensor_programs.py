"""A script for oracle_live.py that is part of this repository: arguments and tensors that torch.profiler treats specially."""

import os

import torch
from torch.utils.checkpoint import checkpoint

DEVICE = os.environ.get("DEVICE", "cpu")
REGION = "oracle::region"


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, flag, name):
        ctx.save_for_backward(x)
        return x * factor

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2, None, None, None


def indices():
    """Lists of optional tensors, with and without None."""
    table, rows = torch.zeros(4, 5, device=DEVICE), torch.tensor([1, 2], device=DEVICE)
    leaf = torch.arange(6.0, device=DEVICE, requires_grad=True)
    with torch.profiler.record_function(REGION):
        table[:, rows] = 1.0
        table.index_put_((rows,), torch.ones(5, device=DEVICE), accumulate=True)
        kept = [table[:, rows], table[rows], torch.ops.aten.index.Tensor(table, [None, rows])]
        (leaf[leaf > 2].sum() + leaf[[0, 1]].sum()).backward()
    return kept


def results_given():
    """A tensor's storage changes inside of the operator that was given it."""
    square = torch.ones(3, 3, device=DEVICE)
    with torch.profiler.record_function(REGION):
        tensors = [torch.empty(0, device=DEVICE) for _ in range(4)]
        torch.add(square, 1, out=tensors[0])
        torch.matmul(square, square, out=tensors[1])
        torch.cat([tensors[1], square], out=tensors[2])
        places = torch.empty(0, dtype=torch.int64, device=DEVICE)
        torch.sort(tensors[2].view(-1), out=(tensors[3], places))
        tensors[0].resize_(64).fill_(1)
        tensors[1].data = tensors[2]
        tensors[2].set_(square.clone())
        kept = [tensor + 1 for tensor in tensors]
    return kept, places


def views():
    """Storages that only views of them show."""
    with torch.profiler.record_function(REGION):
        base = torch.ones(4, 4, device=DEVICE)
        kept = [base[i].view(2, 2).add_(i).t() + 1 for i in range(3)]
        kept.append(torch.ones(4, 4, device=DEVICE).view(16).view(4, 4).t_().squeeze_().add_(1))
        base = base.detach().unsqueeze(0).expand(3, 4, 4)[0].mul_(2)
    return kept, base


def functions():
    """Functions of Python's, checkpointing, in-place operators on views under autograd."""
    leaf = torch.ones(4, 4, device=DEVICE, requires_grad=True)
    layer = torch.nn.Linear(4, 4).to(DEVICE)
    with torch.profiler.record_function(REGION):
        Scale.apply(leaf, 3, True, "name").sum().backward()
        for reentrant in (True, False):
            checkpoint(layer, leaf, use_reentrant=reentrant).sum().backward()
        y = leaf * 2
        y[0].mul_(3)
        y[:, 1].add_(1)
        y.sum().backward()


def hooks():
    """A hook's operators run in the engine's range before its node."""
    leaf = torch.ones(4, 4, device=DEVICE, requires_grad=True)
    with torch.profiler.record_function(REGION):
        y = leaf * 2
        y.register_hook(lambda gradient: gradient * 3)
        (y * y).sum().backward()


def main():
    torch.set_num_threads(1)
    for program in (indices, results_given, views, functions, hooks):
        program()
