"""torch shows non-tensor arguments of a Python Function only while its profiler records shapes. A recording contains them always: the output of `memoir export
categories` is the same with and without torch.profiler in the run."""

import json
import subprocess
import sys

import torch

PROGRAM = '''
import contextlib, sys, torch
from torch.utils.checkpoint import checkpoint

class Own(torch.Tensor):
    pass

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, flag, name, nothing, function, other, z, sizes, more=()):
        return x * factor + other
    @staticmethod
    def backward(ctx, gradient):
        return gradient, *[None] * 9

class Named(torch.autograd.Function):
    @staticmethod
    def forward(x, factor, more=2.5):
        return x * factor
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, gradient):
        return gradient, None, None

layer = torch.nn.Linear(4, 4)
for profiled in (True, False):
    x = torch.ones(4, 4, requires_grad=True)
    parameter = torch.nn.Parameter(torch.ones(4, 4))
    own = torch.ones(4, 4).as_subclass(Own)
    around = torch.profiler.profile(record_shapes=True, profile_memory=True) if profiled else contextlib.nullcontext()
    with around, torch.profiler.record_function("region"):
        Scale.apply(x, 3, True, "name", None, print, parameter, 1j, (1, (None, 2.5)), [3, 4]).sum().backward()
        Scale.apply(own, 2.5, False, "", None, len, x, [x], (1, "a"), [1, 2.5]).sum()
        Scale.apply(own, 2.5, [True], [0.5], {}, len, x, [], (), torch.Size([1])).sum()
        Named.apply(x, 2).sum()
        checkpoint(layer, x, use_reentrant=True).sum().backward()
'''

ALL = ["TibNTcoI", "TdbNT", "TdBDToo", "Tid", "bT"]


def test_as_beside_torch_profiler(tree, tmp_path):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(PROGRAM)
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]

    def ranges(number):
        shown = subprocess.run([tree / "bin" / "memoir", "export", "events", "--range", f"region#{number}", capture], capture_output=True, text=True)
        events = [json.loads(line) for line in shown.stdout.splitlines()]
        return [(event["name"], event.get("kinds"), len(event["tensors"])) for event in events if event["event"] == "range_begin" and "::" not in event["name"]]

    beside, alone = ranges(0), ranges(1)
    functions, functions_beside = ([row for row in rows if row[0] in ("Scale", "Named", "CheckpointFunction")] for rows in (alone, beside))
    assert [kinds for _, kinds, _ in functions_beside] == ALL
    if hasattr(torch.autograd.Function.apply, "__code__"):
        assert functions == functions_beside
    else:  # there is no frame of `apply` to read them from (docs/categories.md)
        assert [kinds for _, kinds, _ in functions] == ["T" * kinds.count("T") for kinds in ALL]
