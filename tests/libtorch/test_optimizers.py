"""Optimizers of torch::optim: their state is the optimizer's, and their steps are a phase."""

import pytest
import torch
from recording import run_memoir, show

PARAMETERS = 2 * (64 * 64 + 64) * 4  # bytes
ON_A_GPU = 2 * (64 * 64 * 4 + 512)  # where biases are rounded up
# How many times the parameters the state is, and further bytes. LBFGS has flat tensors of all parameters (the direction, the last gradient, and two
# directions and two steps of before), and five numbers in tensors of their own.
STATE = {"SGD": (1, 0), "Adam": (2, 0), "AdamW": (3, 0), "RMSprop": (3, 0), "Adagrad": (1, 0), "LBFGS": (6, 5 * 4)}


def record_one(tree, built, clean, folder, name, device, options=()):
    done = run_memoir(tree, "run", "-q", "-o", folder / "capture", *options, "--", built("libtorch_optimizers"), name, device, env=clean())
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    return folder / "capture"


def state(tree, capture, device):
    live = show(tree, capture, "--by", "category", "--at", "mark:trained")
    found, = [row["bytes"] for entry in live["devices"] if entry["device"] == device for row in entry["categories"] if row["name"] == "optimizer state"]
    return found


@pytest.mark.parametrize("name", STATE)
def test_state_is_the_optimizers(tree, built, clean, tmp_path, name):
    capture = record_one(tree, built, clean, tmp_path, name, "cpu")
    times, further = STATE[name]
    assert state(tree, capture, "cpu") == times * PARAMETERS + further
    assert {"forward", "backward", "optimizer"} <= set(show(tree, capture, "--by", "module")["phases"])


def test_state_on_a_gpu(tree, built, clean, tmp_path):
    if not torch.version.cuda:
        pytest.skip("this torch has no CUDA half")
    capture = record_one(tree, built, clean, tmp_path, "AdamW", "cuda", ("--simulate", "h100"))
    assert state(tree, capture, "cuda:0") == 3 * ON_A_GPU
