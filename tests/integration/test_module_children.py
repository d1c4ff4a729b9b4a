"""Modules in the child processes of a program that train, too."""

import pytest

from recording import events, record, run_explicit, show

FORKED = '''
import os, sys, memoir, torch, torch.multiprocessing as mp
torch.set_num_threads(1)
torch.nn.ReLU()(torch.ones(1))          # so that the same modules have other numbers in a child
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
def train(*_):
    for step in range(2):
        if "steps" in sys.argv: memoir.step()
        model(torch.ones(2, 4)).sum().backward()
if __name__ == "__main__":
    train()
    if "task" in sys.argv:
        mp.start_processes(train, nprocs=1, start_method="fork")
    elif "pool" in sys.argv:
        with mp.get_context("spawn").Pool(1) as pool:
            pool.map(train, [0])
            pool.close()
            pool.join()
    elif os.fork() == 0:
        train()
        memoir.stop()
        os._exit(0)
    else:
        assert os.wait()[1] == 0
'''


# A child that multiprocessing's task tells of is recorded from there on; another from its first step or backward pass on.
@pytest.mark.parametrize("how, known", [("task", 2), ("fork", 1), ("steps", 2), ("pool steps", 2)])
def test_children_that_train(tree, tmp_path, how, known):
    capture, done = record(tree, tmp_path, FORKED, *how.split())
    assert (done.returncode, done.stderr) == (0, "")
    begun = [e for e in events(tree, capture) if e["event"] == "range_begin" and e["name"] == "aten::linear"]
    parent, child = ([e.get("module") for e in begun if e["process"] == process] for process in range(2))
    assert parent == ["0", "1"] * 2 and child == ["0", "1"] * known
    rows = {row["name"]: row for row in show(tree, capture, "--by", "module")["modules"]}
    assert rows["0"]["count"] == 2 + known and rows["0"]["class"] == "Linear"


STARTS_WITHOUT = '''
import os, sys, torch, memoir
torch.set_num_threads(1)
layer, call = torch.nn.Linear(4, 4), torch.nn.Module.__call__
memoir.start(sys.argv[1])
layer(torch.ones(2, 4))
if os.fork() == 0:
    memoir.start(sys.argv[2], modules=False)
    assert torch.nn.Module.__call__ is call
    layer(torch.ones(2, 4))
    memoir.stop()
    os._exit(0)
assert os.wait()[1] == 0
layer(torch.ones(2, 4))
memoir.stop()
'''


def test_a_forked_child_may_leave_them_out(tree, tmp_path):
    done = run_explicit(tree, tmp_path, STARTS_WITHOUT, tmp_path / "parent", tmp_path / "child")
    assert (done.returncode, done.stderr) == (0, "")
    parent, child = (sum(e["event"] == "module_enter" for e in events(tree, tmp_path / who)) for who in ("parent", "child"))
    assert (parent, child) == (2, 0)
    assert show(tree, tmp_path / "child")["operator_calls"] > 0
