"""The table of saved tensors, compared with autograd's own hooks for saved tensors."""

import pathlib
import re

import pytest
import torch

TABLE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "analyze" / "categories" / "saved_by_operators.def"
ROWS = {name: saves.split() for name, saves in re.findall(r'^MEMOIR_SAVES\("(\S+)", "(.*)"\)$', TABLE.read_text(), re.MULTILINE)}
aten = torch.ops.aten


def matrix(*sizes):
    return torch.randn(*(sizes or (4, 4)))


# The operator, and its arguments by position. Random operators and those that save what depends on a flag are left out.
CALLS = {
    "mm": lambda: (aten.mm.default, matrix(), matrix()),
    "addmm": lambda: (aten.addmm.default, matrix(), matrix(), matrix()),
    "bmm": lambda: (aten.bmm.default, matrix(2, 4, 4), matrix(2, 4, 4)),
    "add.Tensor": lambda: (aten.add.Tensor, matrix(), matrix()),
    "mul.Tensor": lambda: (aten.mul.Tensor, matrix(), matrix()),
    "div.Tensor": lambda: (aten.div.Tensor, matrix(), matrix()),
    "relu": lambda: (aten.relu.default, matrix()),
    "gelu": lambda: (aten.gelu.default, matrix()),
    "silu": lambda: (aten.silu.default, matrix()),
    "softplus": lambda: (aten.softplus.default, matrix()),
    "tanh": lambda: (aten.tanh.default, matrix()),
    "exp": lambda: (aten.exp.default, matrix()),
    "clone": lambda: (aten.clone.default, matrix()),
    "cat": lambda: (aten.cat.default, [matrix(), matrix()]),
    "t": lambda: (aten.t.default, matrix()),
    "_softmax": lambda: (aten._softmax.default, matrix(), -1, False),
    "_log_softmax": lambda: (aten._log_softmax.default, matrix(), -1, False),
    "mse_loss": lambda: (aten.mse_loss.default, matrix(), matrix()),
    "native_layer_norm": lambda: (aten.native_layer_norm.default, matrix(), [4], matrix(4), matrix(4), 1e-5),
    "convolution": lambda: (aten.convolution.default, matrix(1, 2, 8, 8), matrix(3, 2, 3, 3), matrix(3), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    "max_pool2d_with_indices": lambda: (aten.max_pool2d_with_indices.default, matrix(1, 2, 8, 8), [2, 2]),
    "native_batch_norm": lambda: (aten.native_batch_norm.default, matrix(2, 3, 4, 4), matrix(3), matrix(3), torch.zeros(3), torch.ones(3), True, 0.1, 1e-5),
    "embedding": lambda: (aten.embedding.default, matrix(10, 4), torch.arange(3)),
    "linalg_vector_norm": lambda: (aten.linalg_vector_norm.default, matrix()),
    "sum.dim_IntList": lambda: (aten.sum.dim_IntList, matrix(), [0]),
}


def saved_of(operator, arguments):
    """Positions of arguments, and results as r0, that autograd saves."""
    saved = set()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: saved.add(tensor.data_ptr()) or tensor, lambda tensor: tensor):
        results = operator(*arguments)
    results = results if isinstance(results, tuple) else (results,)
    of_arguments = {str(i) for i, argument in enumerate(arguments) if isinstance(argument, torch.Tensor) and argument.data_ptr() in saved}
    return of_arguments | {f"r{i}" for i, result in enumerate(results) if result.numel() and result.data_ptr() in saved}


def expected(row, wanted):
    found = set()
    for one in row:
        position, _, by = one.partition("?")
        if position not in ("n", "v") and (not by or int(by) in wanted):
            found.add(position)
    return found


def is_differentiable(name, position, argument):
    statistics = name == "native_batch_norm" and position > 2
    return isinstance(argument, torch.Tensor) and argument.is_floating_point() and not statistics


@pytest.mark.parametrize("name", CALLS)
def test_the_table_says_what_autograd_saves(name):
    for alone in (None, 0, 1, 2):  # all want a gradient, or one alone
        operator, *arguments = CALLS[name]()
        wanted = set()
        for position, argument in enumerate(arguments):
            for tensor in argument if isinstance(argument, list) else [argument]:
                if alone in (None, position) and is_differentiable(name, position, tensor):
                    tensor.requires_grad_()
                    wanted.add(position)
        if wanted:
            assert saved_of(operator, arguments) == expected(ROWS[name], wanted), alone


def test_the_table_is_whole():
    assert len(ROWS) > 900
    assert {"n", "v"} <= set(ROWS["detach"]) and ROWS["addmm"] == ["1?2", "2?1"] and ROWS["relu"] == ["r0"]
