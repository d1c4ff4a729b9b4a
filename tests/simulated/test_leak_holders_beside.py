"""A search for holders (`memoir run --holders`) while other threads of the program fork, and while they run backward: the program ends as without, and who holds what is right."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_leak_holders import leaks_of, run  # noqa: E402

# While a thread does something all the time, the main one keeps a tensor and a graph in every step.
KEEPS = """
import os, sys, threading, torch, memoir
from _torch_memoir.holders import _holders
torch.set_num_threads(1)
ended, rounds, wrong = threading.Event(), 0, []
def forks():
    child = os.fork()
    if child == 0:
        os._exit(memoir.is_recording())
    if os.waitpid(child, 0)[1] != 0: wrong.append(child)
def child_trains():
    child = os.fork()
    if child == 0:
        for step in range(7): memoir.step(step)  # the sixth is searched
        found = _holders.is_requested() and _holders._next == 12
        memoir.stop()
        os._exit(0 if found else 1)
    if os.waitpid(child, 0)[1] != 0: wrong.append(child)
weight = torch.ones(256, 256, requires_grad=True)
def backward():
    (weight * 2).exp().sum().backward()
def again(work):
    global rounds
    while not ended.is_set():
        work()
        rounds += 1
class Trainer:
    def __init__(self):
        self.batches, self.losses = [], []
    def fit(self, steps):
        model = torch.nn.Linear(256, 256)
        for step in range(steps):
            memoir.step(step)
            self.batches.append(torch.ones(256, 256))
            self.losses.append(model(torch.ones(256, 256)).square().sum())
thread = threading.Thread(target=again, args=(globals()[sys.argv[1]],))
thread.start()
Trainer().fit(26)
while not rounds: pass
ended.set()
thread.join()
assert not wrong, wrong
print("trained")
"""
BATCHES, LOSSES = (next(number for number, line in enumerate(KEEPS.splitlines(), 1) if name in line and "append" in line) for name in ("batches", "losses"))


@pytest.mark.parametrize("work", ["forks", "child_trains", "backward"])
def test_beside(tree, tmp_path, work):
    program = tmp_path / "keeps.py"
    program.write_text(KEEPS)
    capture, done = run(tree, tmp_path, program, work)
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")
    leaks = {leak["line"]: leak for leak in leaks_of(tree, capture, "--json")}
    names = {line: {holder["name"] for holder in leak["holders"]} for line, leak in leaks.items()}
    assert all(name.startswith("Trainer.batches[…] (list, local of fit() in keeps.py)") for name in names[BATCHES]) and names[BATCHES]
    assert all(name.startswith("Trainer.losses[…] (list, local of fit() in keeps.py)") for name in names[LOSSES]), names
