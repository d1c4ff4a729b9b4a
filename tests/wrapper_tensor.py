"""A tensor subclass that wraps another tensor and asks it, as DTensor and its like do: for the programs of several tests."""

import torch
from torch.utils._pytree import tree_map_only


class Wrapper(torch.Tensor):
    calls = []  # what it was asked for, in order

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(str(function))
        args, kwargs = tree_map_only(cls, lambda t: t.inner, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, cls, function(*args, **kwargs))
