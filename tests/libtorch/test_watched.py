"""A C++ program that only watches its model and its optimizer: at the peak it has the categories of its twin in Python."""

import subprocess

import pytest
from recording import record, run_explicit, run_memoir, show

TWIN = '''
import sys, torch, memoir

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = torch.nn.Linear(64, 256), torch.nn.BatchNorm1d(256), torch.nn.Linear(256, 8)
    def forward(self, x):
        return self.head(torch.relu(self.norm(self.body(x))))

if len(sys.argv) > 2:
    memoir.start(sys.argv[2])
net = Net().to(sys.argv[1])
optimizer = torch.optim.AdamW(net.parameters(), foreach=False)
for step in range(3):
    memoir.step()
    x = torch.randn(32, 64, device=sys.argv[1])
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
memoir.mark("trained")
'''
STEP_TENSORS = 6 * 4  # bytes: Python's AdamW counts the steps of each parameter in a tensor on the CPU, C++'s in a number
KINDS = ("parameter", "buffer", "gradient", "optimizer state", "activation", "input")


@pytest.fixture(scope="module", params=["cpu", "cuda", "by itself"])
def pair(request, tree, built, clean, tmp_path_factory):
    """(capture of the program, of its twin, device): under `memoir run`, and as they record themselves."""
    import torch

    if request.param == "cuda" and not torch.version.cuda:
        pytest.skip("this torch has no CUDA half")
    folder, name = tmp_path_factory.mktemp("pair"), "cuda" if request.param == "cuda" else "cpu"
    options = ("--simulate", "h100") if name == "cuda" else ()
    if request.param == "by itself":
        done = subprocess.run([built("libtorch_watched"), name, folder / "cc"], env=clean(MEMOIR_HOME=str(tree)), capture_output=True, text=True, timeout=300)
        twin = folder / "twin"
        finished = run_explicit(tree, folder, TWIN, name, twin, environment=clean())
    else:
        done = run_memoir(tree, "run", "-q", "-o", folder / "cc", *options, "--", built("libtorch_watched"), name, env=clean())
        twin, finished = record(tree, folder, TWIN, name, options=options, env=clean())
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", ""), done
    assert finished.returncode == 0, finished.stderr
    return folder / "cc", twin, "cuda:0" if name == "cuda" else "cpu"


def at(tree, capture, device, instant):
    live = show(tree, capture, "--by", "category", "--at", instant)
    found, = [entry["categories"] for entry in live["devices"] if entry["device"] == device]
    return {row["name"]: row["bytes"] for row in found if row["name"] in KINDS}


@pytest.mark.parametrize("instant", ["peak", "mark:trained"])
def test_categories_are_the_twins(tree, pair, instant):
    capture, twin, device = pair
    mine, other = at(tree, capture, device, instant), at(tree, twin, device, instant)
    if device == "cpu":
        other["optimizer state"] -= STEP_TENSORS
    assert mine == other
    assert min(mine[name] for name in ("parameter", "buffer", "gradient", "optimizer state", "input")) > 0


def test_parameters_are_the_twins(tree, pair):
    capture, twin, _ = pair
    mine, other = ({row["name"] for row in show(tree, c, "--by", "parameter")["parameters"] if not row["name"].startswith("(")} for c in (capture, twin))
    assert mine == other and {"body.weight", "norm.running_mean", "head.bias"} <= mine
