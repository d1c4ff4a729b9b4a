"""The requests of NVIDIA's libraries to torch on the simulated card, compared with those on a card (h100_sizes), as docs/tested/real_card.md describes."""

import json
import pathlib
import subprocess
import sys

import pytest

from measure import SIMULATED, environment

HERE = pathlib.Path(__file__).parent
PARTS = ("asked", "forward", "both", "inference")


def rows_of(lines):
    return {json.dumps(row["shape"]): row for row in map(json.loads, lines)}


@pytest.fixture(scope="module")
def compared(tree, tmp_path_factory):
    """For a group of shapes: (shape, part, the card's request, the simulated card's request)."""
    def compare(group):
        folder = tmp_path_factory.mktemp(group)
        command = [tree / "bin/memoir", *SIMULATED, sys.executable, HERE / "sizes.py", group]
        done = subprocess.run(list(map(str, command)), env=environment(group, folder), capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]
        real, found = rows_of((HERE / "h100_sizes" / f"{group}.jsonl").open()), rows_of(done.stdout.splitlines())
        assert real.keys() == found.keys()
        return [(shape, part, row[part], found[shape][part]) for shape, row in real.items() for part in PARTS if part in row]
    return compare


def share(pairs, within=0.0):
    return sum(abs(sum(found) - sum(real)) <= within * sum(real) and (within > 0 or found == real) for _, _, real, found in pairs)


def test_attention_asks_for_the_same(compared):
    pairs = compared("attention")
    assert (share(pairs), len(pairs)) == (192, 192)


def test_recurrent_nets_keep_the_same_and_work_in_about_as_much(compared):
    pairs = compared("recurrent")
    kept = [(real[-1], found[-1]) for _, part, real, found in pairs if part == "forward"]
    assert len(kept) == 126 and all(real == found for real, found in kept)
    assert (share(pairs, 0.1), len(pairs)) == (352, 378)


@pytest.mark.in_turn
def test_transforms_and_convolutions(compared):
    transforms, convolutions = compared("fourier"), compared("convolution")
    assert (share(transforms), len(transforms)) == (110, 126)
    assert (share(convolutions, 0.01), len(convolutions)) == (76, 144)
