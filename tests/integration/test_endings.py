"""The first line of a summary says how a program ended that did not end in good order, and where it was then."""

import sys

import pytest

from recording import run_memoir

PROGRAM = """
import os, signal, sys, torch
from torch import nn

how = sys.argv[1]


class Clips(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        raise OSError("clip 371 is truncated\\n  at byte 9")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(x)


def main():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters())
    for step in range(4):
        if step == 3 and how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if step == 3 and how == "interrupt":
            signal.raise_signal(signal.SIGINT)
        if step == 3 and how == "worker":
            next(iter(torch.utils.data.DataLoader(Clips(), num_workers=1)))
        if step == 3 and how == "exit":
            sys.exit(3)
        if step == 3 and how == "_exit":
            os._exit(5)
        net(torch.ones(2, 8 if step == 3 and how == "shape" else 16)).sum().backward()
        optimizer.step()


main()
"""
LINES = {
    "worker": "program.py FAILED: OSError: Caught OSError in DataLoader worker process 0. OSError: clip 371 is truncated; in step 3, at program.py:",
    "shape": "program.py FAILED: RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x8 and 16x4); in step 3, aten::linear of head, at program.py:22 Net.forward",
    "interrupt": "program.py was INTERRUPTED by Ctrl-C: KeyboardInterrupt; in step 3, at program.py:32 main",
    "kill": "program.py was KILLED by signal 9 (SIGKILL); in step 3",
    "_exit": "program.py left without stopping (os._exit or exec), exit code 5; in step 3",
    "exit": "program.py ended with exit code 3",
    "end": "program.py, torch",
}


def sentences(text):
    """The lines of a summary without its breaks, which depend on the width."""
    return " ".join(line.removeprefix("memoir: ").strip() for line in text.splitlines() if line.startswith("memoir: "))


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("how", LINES)
def test_a_program_that_failed(tree, tmp_path, how):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(PROGRAM)
    done = run_memoir(tree, "run", "-o", capture, "--", sys.executable, program, how)
    said = sentences(done.stderr)
    assert LINES[how] in said, done.stderr
    assert said.count("SIGKILL") == (how == "kill") and "killed, os._exit or exec" not in said, done.stderr
    first = " ".join(run_memoir(tree, "show", capture).stdout.split())
    if how in ("shape", "interrupt", "kill"):
        assert first.startswith(LINES[how]), first
