"""Programs that end inside backward, by a kill or out of memory, against the same ones that go on."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def live(tree, capture, device, model, how, at, *options):
    """{category: bytes} of what is live where the program ends, or has its mark."""
    command = [tree / "bin" / "memoir", "run", "-q", *options, "-o", capture, "--", sys.executable, HERE / "ended.py", model, *how]
    subprocess.run(command, capture_output=True, env={**os.environ, "DEVICE": device})
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", "--by", "category", "--at", at, capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = [one for one in json.loads(done.stdout)["devices"] if one["device"].startswith(device)]
    return {row["name"]: row["bytes"] for row in found["categories"]}


def checkpoint_rows(tree, capture, device, how, *options):
    """{(path, class): bytes that checkpointing would free} of a recording that ends, or goes on, in the first backward pass."""
    command = [tree / "bin" / "memoir", "run", "-q", *options, "-o", capture, "--", sys.executable, HERE / "ended.py", "transformer", how, "first"]
    subprocess.run(command, capture_output=True, env={**os.environ, "DEVICE": device})
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", "--by", "checkpoint", capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = [one for one in json.loads(done.stdout)["devices"] if one["device"].startswith(device)]
    return {(row["path"], row["class"]): row["freed_bytes"] for row in found["modules"]}


@pytest.mark.parametrize("device, how, options", [("cpu", "kill", []), ("cuda", "oom", ["--simulate", "h100"])])
def test_checkpointing_of_a_run_that_ended(tree, tmp_path, device, how, options):
    """The bytes that it would free are known when backward has hardly begun. Later steps have a higher peak, from optimizer state, but the same activations."""
    goes_on = checkpoint_rows(tree, tmp_path / "mark", device, "mark", *options)
    ended = checkpoint_rows(tree, tmp_path / "ended", device, how, *options)
    # On the card the one that goes on has its peak in the second step's backward, the other where it was refused in the first's.
    near = 0.01 if device == "cpu" else 0.15
    for row, least in (("blocks.*", "Block"), 8 << 20), (("blocks.*.attention", "MultiheadAttention"), 2 << 20):
        assert ended[row] >= least and abs(ended[row] - goes_on[row]) <= near * goes_on[row], (row, ended[row], goes_on[row])


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("model, device, how, at, options", [
    ("transformer", "cpu", ["kill"], "end", []),
    ("transformer", "cuda", ["oom", "first"], "oom", ["--simulate", "h100"]),
    ("resnet", "cuda", ["oom"], "oom", ["--simulate", "h100"]),
])
def test_an_end_inside_backward(tree, tmp_path, model, device, how, at, options):
    goes_on = live(tree, tmp_path / "mark", device, model, ["mark", *how[1:]], "mark:cut", *options)
    ended = live(tree, tmp_path / "ended", device, model, how, at, *options)
    total = sum(goes_on.values())
    assert goes_on["activation"] > 0.1 * total
    assert abs(sum(ended.values()) - total) <= 0.001 * total
    differ = sum(abs(goes_on.get(name, 0) - ended.get(name, 0)) for name in goes_on.keys() | ended.keys()) / 2
    assert differ <= 0.01 * total, (goes_on, ended)
