"""Categories by Memoir's rules against what the programs say of their own memory."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["transformer", "checkpointed", "checkpointed_reentrant", "autocast", "conv_net", "lstm", "gan", "frozen_backbone", "custom_function", "double_backward",
            "raw_leaves", "inference", "generation", "in_memory", "lazy", "ddp", "ddp_bucket_view", "fsdp2"]
# Held by somebody, so that there is no doubt.
HELD = {"PARAMETER", "BUFFER", "GRADIENT", "OPTIMIZER_STATE"}

# For early ends: the share of live bytes at random instants whose category must equal the whole recording's. Unused blocks are excluded (cut_categories.cc),
# because their purpose follows later. They must be few; the lazy model is one call, half of which makes parameters.
CUTS, OF_CUTS, UNUSED = 200, 0.99, 0.2
MORE_UNUSED = {"lazy": 0.35}
# While an attention runs that makes keys and values for the first time, they look like its temporaries.
LESS = {"generation": 0.93}


def read(tree, *arguments):
    done = subprocess.run([tree / "bin" / "memoir", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def live_at(blocks, ns, device):
    return {int(block["address"], 16): block for block in blocks
            if block["device"].startswith(device) and block["allocated_time_ns"] <= ns and (block["freed_time_ns"] is None or block["freed_time_ns"] > ns)}


def judge(truth, live):
    """(bytes of known, of them wrong, all that are wrong)"""
    known = wrong = 0
    mistakes = []
    for address, (category, size) in truth.items():
        block = live.get(int(address))
        if block is None or block["bytes"] < size:
            continue  # not Memoir's to know: mapped, shared, from before
        known += block["bytes"]
        if block["category"] != category:
            wrong += block["bytes"]
            mistakes.append((category, block))
    return known, wrong, mistakes


@pytest.mark.in_turn(always=5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_categories_are_true(tree, tmp_path, name):
    check(tree, tmp_path, name, "cpu")


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("name", ["transformer", "checkpointed", "autocast", "custom_function"])
def test_on_the_simulated_device(tree, tmp_path, name):
    check(tree, tmp_path, name, "cuda", "--simulate", "h100")


def check(tree, tmp_path, name, device, *options):
    capture, told = tmp_path / "capture", tmp_path / "truth.json"
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", *options, "-o", capture, "--", sys.executable, HERE / "programs.py", name, told],
                          capture_output=True, text=True, env={**os.environ, "DEVICE": device})
    assert done.returncode == 0, done.stderr
    instants = json.loads(told.read_text())
    blocks = read(tree, "export", "categories", capture)["blocks"]
    marks = [mark["time_ns"] for mark in read(tree, "show", "--json", capture)["marks"]]
    assert len(marks) == len(instants) >= 3
    seen = set()
    for ns, truth in zip(marks, instants):
        known, wrong, mistakes = judge(truth, live_at(blocks, ns, device))
        assert known >= 0.98 * sum(size for _, size in truth.values()), "of what the program holds, Memoir must have nearly all"
        assert not [mistake for mistake in mistakes if {mistake[0], mistake[1]["category"]} & HELD], mistakes
        assert wrong <= 0.01 * known, mistakes
        seen |= {category for category, _ in truth.values()}
    assert {"PARAMETER", "INPUT"} <= seen
    unknown = sum(block["bytes"] * ((block["freed_time_ns"] or marks[-1]) - block["allocated_time_ns"]) for block in blocks if block["category"] == "UNKNOWN")
    all_of_it = sum(block["bytes"] * ((block["freed_time_ns"] or marks[-1]) - block["allocated_time_ns"]) for block in blocks)
    assert unknown <= 0.01 * all_of_it
    if device == "cpu":
        check_cuts(capture, LESS.get(name, OF_CUTS), MORE_UNUSED.get(name, UNUSED))


def check_cuts(capture, share, most_unused):
    done = subprocess.run([os.environ["CUT_CATEGORIES"], capture, str(CUTS), "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cuts = json.loads(done.stdout)
    assert CUTS / 2 <= len(cuts) <= CUTS  # the shortest program has fewer events
    live, same, unused = (sum(cut[key] for cut in cuts) for key in ("live_bytes", "same_bytes", "unused_bytes"))
    assert same >= share * live, [cut for cut in cuts if cut["same_bytes"] < share * cut["live_bytes"]]
    assert unused <= most_unused * (live + unused)
