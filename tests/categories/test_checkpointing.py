"""The estimates of memoir show --by checkpoint for a plain run, compared with the peak of the same program with checkpointed modules."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
# path and class as the view has them, and what part of the plain peak it must free at least (None: next to nothing; negative: it must cost so much)
PROGRAMS = {
    "transformer": [("layers.*", "Block", 0.6), ("layers.*.mlp", "Sequential", 0.2), ("layers.*.attention", "Attention", 0.2), ("", "Transformer", None)],
    "conv_net": [("blocks.*", "Residual", 0.4), ("blocks.*.conv1", "Conv2d", None), ("", "ConvNet", None)],
    "perceptron": [("blocks.*", "Sequential", 0.4), ("blocks.*.*", "Dropout", 0.1), ("blocks.*.*", "Tanh", -0.2), ("blocks.*.*", "ReLU", None), ("", "Perceptron", None)],
}
# A difference of the peak: torch stores the state of the random generator for each call, 5 KiB, which a plain run does not.
TOLERANCE = 0.01


def show(tree, capture, *arguments):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", *arguments, capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def recorded(tree, capture, *arguments):
    command = [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, HERE / "checkpointed.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return capture


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_peak_is_as_predicted(tree, tmp_path, name):
    plain = recorded(tree, tmp_path / "plain", name)
    device = show(tree, plain, "--by", "checkpoint")["devices"][0]
    rows = {(row["path"], row["class"]): row for row in device["modules"]}
    peak = device["peak_allocated_bytes"]
    assert peak == show(tree, plain)["devices"][0]["peak_allocated_bytes"]
    for number, (path, class_name, least) in enumerate(PROGRAMS[name]):
        row = rows[path, class_name]
        actual = show(tree, recorded(tree, tmp_path / str(number), name, path, class_name))["devices"][0]["peak_allocated_bytes"]
        assert abs(row["new_peak_bytes"] - actual) <= TOLERANCE * actual, (path, row, actual)
        assert row["freed_bytes"] == peak - row["new_peak_bytes"]
        if least is None:
            assert abs(row["freed_bytes"]) <= TOLERANCE * peak, row
        elif least > 0:
            assert row["freed_bytes"] >= least * peak and peak - actual >= least * peak, row
        else:
            assert row["freed_bytes"] <= least * peak and peak - actual <= least * peak, row
    best = device["modules"][0]
    assert (best["path"], best["class"]) == PROGRAMS[name][0][:2]
    text = subprocess.run([tree / "bin" / "memoir", "show", "--by", "category", plain], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"Checkpointing\s+{re.escape(best['path'])}", text), text


def test_what_is_checkpointed_already(tree, tmp_path):
    capture = recorded(tree, tmp_path / "capture", "perceptron", "blocks.*", "Sequential")
    device = show(tree, capture, "--by", "checkpoint")["devices"][0]
    inner = [row for row in device["modules"] if row["path"] == "blocks.*.*"]
    assert inner and all(row["already"] > 0 and abs(row["freed_bytes"]) <= TOLERANCE * device["peak_allocated_bytes"] for row in inner)
