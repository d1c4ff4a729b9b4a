"""`memoir diff` names what a regression is of, by module or line, in its first line; and finds nothing where nothing has changed."""

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("diff_programs.py")
TREE_OF_PROGRAM = PROGRAM.parent
GROUPINGS = ["operator", "module", "line", "category", "category,module", "category,line", "parameter", "leaf", "range", "region", "thread", "shape", "pool", "rank"]

# Words of the first line for each program, besides the line that the program has marked.
SEEDED = {
    "batch": ["head"],
    "sequence": ["head"],
    "no_grad": ["layers.*", "activation (no backward came)"],
    "dtype": ["layers."],
    "head": ["second_head"],
    "retain_graph": ["aten::cross_entropy_loss", "activation"],
    "losses": ["aten::cross_entropy_loss"],
    "adam": ["optimizer state"],
    "no_checkpointing": ["layers.*", "activation"],
    "zero_grad": ["gradient", "layers.*.up"],
    "workspace": ["(library workspace)"],
    "cached": ["layers.*"],
    "upcast": ["layers."],
    "average": ["parameter (copy)"],
    "prefetch": ["aten::zeros"],
    "clipped": ["aten::clone"],
}


def marked():
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    return {match[1]: f"{PROGRAM.name}:{number} " for number, line in lines if (match := re.search(r"# SEEDED: (\w+)$", line))}


@pytest.fixture(scope="module")
def captures(tree, tmp_path_factory):
    """One recording of each regression, two of the program as it was, and one of it after an edit that moves its lines and wraps its model."""
    folder = tmp_path_factory.mktemp("diff")
    # Checkpointing without its separate line, as before an edit.
    edited = folder / "edited" / PROGRAM.name
    edited.parent.mkdir()
    text = PROGRAM.read_text().replace('"""A training program', '"""One more line.\n\nA training program', 1)
    text = text.replace("    def forward(self, hidden):\n", "    def forward(self, hidden):\n        # A comment.\n\n", 1)
    edited.write_text(text.replace("    losses, kept = [], []\n", "    net = torch.nn.DataParallel(net, device_ids=[0])\n    losses, kept = [], []\n", 1))

    def record(name):
        program = edited if name == "edited" else PROGRAM
        arguments = [name] if name in SEEDED else []
        environment = {**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":65536:8" if name == "workspace" else ":4096:2:16:8"}
        command = [tree / "bin/memoir", "run", "-q", "--simulate", "h100", "-o", folder / name, "--", sys.executable, program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(record, ["before", "again", "edited", *SEEDED]))
    return folder


def diff(tree, *arguments):
    return subprocess.run([tree / "bin/memoir", "diff", *arguments], capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "COLUMNS": "250"})


def compared(tree, *arguments):
    done = diff(tree, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_all_are_named_in_the_first_line(tree, captures):
    assert len(SEEDED) >= 12
    wrong, lines = [], marked()
    for name, words in SEEDED.items():
        done = diff(tree, captures / "before", captures / name)
        assert done.returncode == 0, done.stderr
        first = done.stdout.splitlines()[0]
        wanted = [*words, *([lines[name]] if name in lines else [])]
        if not first.startswith("+") or not all(word in first for word in wanted):
            wrong.append((name, first))
        back = diff(tree, captures / name, captures / "before").stdout.splitlines()[0]
        if not back.startswith("-"):
            wrong.append((name, back))
    assert not wrong


def by_name(rows, side):
    """Returns the name, bytes and blocks of each thread, without its number.

    Numbers differ between two recordings: Memoir's thread takes one when it first samples the host's memory.
    """
    return sorted((row["name"].partition(" (")[2], row[f"bytes_{side}"], row[f"blocks_{side}"]) for row in rows if row[f"blocks_{side}"])


def test_two_recordings_of_one_program_do_not_differ(tree, captures):
    done = diff(tree, captures / "before", captures / "again")
    assert done.stdout.startswith("no difference at the peak of cuda:0 (")
    assert "\n! " not in done.stdout
    for by in GROUPINGS:
        result = compared(tree, "--by", by, captures / "before", captures / "again")
        assert result["unlike"] == []
        assert {device["device"] for device in result["devices"]} == {"cpu", "cuda:0"}
        for device in result["devices"]:
            assert device["peak_difference_bytes"] == 0 and device["cause"] is None
            if by == "thread":
                assert by_name(device["rows"], "a") == by_name(device["rows"], "b") != []
                continue
            assert {row["state"] for row in device["rows"]} == {"same"}
            assert not any(row["difference_blocks"] for row in device["rows"])


@pytest.mark.in_turn(always=4)
@pytest.mark.parametrize("by", GROUPINGS)
def test_rows_sum_to_the_difference(tree, captures, by):
    names = ["before", "no_checkpointing", "head", "prefetch", "edited"]
    for a, b in zip(names, names[1:] + names[:1], strict=True):
        shown = {side: json.loads(subprocess.run([tree / "bin/memoir", "show", "--json", captures / name], capture_output=True, check=True).stdout) for side, name in (("a", a), ("b", b))}
        for device in compared(tree, "--by", by, captures / a, captures / b)["devices"]:
            peaks = {side: next(one["peak_allocated_bytes"] for one in shown[side]["devices"] if one["device"] == device["device"]) for side in shown}
            assert device["peak_difference_bytes"] == peaks["b"] - peaks["a"] == sum(row["difference_bytes"] for row in device["rows"])
            assert sum(row["bytes_a"] for row in device["rows"]) == peaks["a"]
            assert sum(row["bytes_b"] for row in device["rows"]) == peaks["b"]


def test_an_edit_and_a_wrapper_are_no_difference(tree, captures):
    for by in ("line", "module", "category,module", "category,line", "parameter"):
        result = compared(tree, "--by", by, captures / "before", captures / "edited")
        cuda = result["devices"][0]
        assert cuda["peak_difference_bytes"] == 0
        assert {row["state"] for row in cuda["rows"]} == {"same"}, by
    done = diff(tree, captures / "before", captures / "edited")
    assert done.stdout.startswith("no difference at the peak of cuda:0")
    assert "stood elsewhere in A" in done.stdout


def test_a_part_of_both(tree, captures):
    result = compared(tree, "--steps", "1:2", "--module", "layers.*", captures / "before", captures / "cached")
    cuda = result["devices"][0]
    assert cuda["peak_difference_bytes"] == sum(row["difference_bytes"] for row in cuda["rows"]) > 0
    at_end = compared(tree, "--at", "end", "--by", "module", captures / "before", captures / "cached")["devices"][0]
    assert at_end["difference_bytes"] == sum(row["difference_bytes"] for row in at_end["rows"])
    assert at_end["difference_bytes"] == at_end["b"]["live_bytes_at_end"] - at_end["a"]["live_bytes_at_end"]


def test_a_recording_that_was_cut_short(tree, captures, tmp_path):
    shutil.copytree(captures / "before", tmp_path / "cut")
    part = max((tmp_path / "cut").rglob("*.memoir"), key=lambda path: path.stat().st_size)
    os.truncate(part, part.stat().st_size * 2 // 3)
    done = diff(tree, captures / "before", tmp_path / "cut")
    assert done.returncode == 0, done.stderr
    assert "! events are missing in B: the difference may be due to that" in done.stdout
    assert "Of B:" in done.stdout
