"""Shared by the workloads of PyTorch's test_memory_profiler.py: blocks of code that run under torch.profiler and, in the same process, recorded by Memoir,
which finds them by their number. A block keeps torch.profiler's results, and the facts that the original test asserts, so that the test can check them in
Memoir's output. They name memory by address, as the original does.
"""

import contextlib
import gc

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import torch_profile

RANGE = "torch.profiler"


class ScaleLayer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(()))

    def forward(self, x):
        return x * self.scale


def pointer(tensor):
    return hex(tensor.untyped_storage().data_ptr())


class OperatorsBelowAutograd(TorchDispatchMode):
    """The inputs and results of each operator, as (TensorImpl, storage): the identity of tensors without torch.profiler."""

    def __init__(self):
        super().__init__()
        self.rows = []

    @staticmethod
    def tensors(value):
        leaves = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        return [[hex(leaf._cdata), pointer(leaf)] for leaf in leaves if len(leaf.untyped_storage())]

    def mark(self, name):
        self.rows.append([f"-- {name} ".ljust(105, "-"), [], []])

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = self.tensors(args) + self.tensors(kwargs or {})
        result = function(*args, **(kwargs or {}))
        returned = self.tensors(result)
        if (given or returned) and "_record_function" not in function.name():
            self.rows.append([function.name(), given, returned])
        return result


BLOCKS = []


@contextlib.contextmanager
def profile(test):
    block = {"test": test}
    number = len(BLOCKS)
    BLOCKS.append(block)
    gc.collect()   # Tensors in cycles of an earlier block, freed between torch.profiler's start and the range's, would be torch.profiler's alone.
    with torch.profiler.profile(record_shapes=True, profile_memory=True, with_stack=True) as profiler:
        with torch.profiler.record_function(RANGE):
            yield block
    block["torch"] = torch_profile.document(profiler)
    block["number"] = number


def schemas(test, body):
    with profile(test) as block:
        body()
    block["asserts_schemas"] = True


def flow(test, body, **inputs):
    with profile(test) as block:
        outputs = body(**inputs) or {}
        gc.collect()
    named = {**inputs, **outputs}
    gradients = {name: tensor.grad for name, tensor in named.items() if tensor.is_leaf}
    block["flow_of"] = [[name, pointer(tensor), None if gradients.get(name) is None else pointer(gradients[name])] for name, tensor in named.items()]


def categories(test, body):
    with profile(test) as block, OperatorsBelowAutograd() as mode:
        body(mode.mark)
    block["operators"] = mode.rows


def parameters_and_gradients(test, body, model, gradients=True):
    with profile(test) as block:
        body()
    assert all((parameter.grad is not None) == gradients for parameter in model.parameters())
    block["categories"] = [["PARAMETER", pointer(parameter)] for parameter in model.parameters()]
    block["categories"] += [["GRADIENT", pointer(parameter.grad)] for parameter in model.parameters() if gradients]


def detected(block, how, is_seen, gradient, parameter=None):
    row = [how, is_seen, pointer(gradient), None if parameter is None else pointer(parameter)]
    block.setdefault("gradients", []).append(row)


def only(block, *gradients, holds=True):
    block["only_gradients"] = [[pointer(gradient) for gradient in gradients], holds]
