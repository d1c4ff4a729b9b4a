"""The hot paths take as many instructions as counts.txt says: a change that makes one longer, or shorter, changes that
file. MEMOIR_UPDATE_GOLDEN=1 writes it."""

import collections
import os
import pathlib
import subprocess

import pytest

COUNTS = pathlib.Path(__file__).with_name("counts.txt")
PROGRAMS = pathlib.Path(os.environ.get("INSTRUCTIONS_PROGRAMS", "/"))
COMPILER = os.environ.get("INSTRUCTIONS_COMPILER", "")
# Where a hash table puts an address differs from run to run, and so do the instructions of its look-up.
TOLERANCE = 0.03
# Not libc's and zstd's, which choose their code by the processor.
OURS = ("libmemoir", "instructions_writer")
# How many of them a region has.
TIMES = {"operator": 2, "CPU block": 2, "module call": 2, "CUDA block": 2, "step": 1, "writer, of 80 events": 80}
HEAD = ("# Instructions of Memoir's own, not of torch's, of libc's or of a program's, for each time (test_instructions.py). The step: a linear\n"
        "# layer, backward, SGD by hand. The writer: with what a chunk costs by itself.\n")


def count(command):
    """Sums by region of the instructions in Memoir's objects."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if done.returncode == 77 or "Operation not permitted" in done.stderr:
        pytest.skip(f"no program may be stepped through here (ptrace): {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    sums = collections.Counter()
    for line in done.stdout.splitlines():
        region, library, instructions = line.split("\t")
        if library.startswith(OURS):
            sums[region] += int(instructions)
    return sums


def known_counts():
    lines = [line for line in COUNTS.read_text().splitlines() if not line.startswith("#")]
    return lines[0], {region: int(number) for number, region in (line.split(maxsplit=1) for line in lines[1:])}


def test_hot_paths_take_as_many_instructions_as_before(tree, tmp_path):
    update = bool(os.environ.get("MEMOIR_UPDATE_GOLDEN"))
    compiler, known = ("", {}) if update and not COUNTS.exists() else known_counts()
    if compiler != COMPILER and not update:
        pytest.skip(f"counts.txt is of {compiler}; this build is of {COMPILER or 'an unknown compiler'}")
    stepped, memoir = PROGRAMS / "count_instructions", tree / "bin" / "memoir"
    sums = count([stepped, PROGRAMS / "instructions_writer"])
    sums += count([memoir, "run", "-q", "-o", tmp_path / "cpu", "--", stepped, PROGRAMS / "instructions_operators", "cpu"])
    sums += count([memoir, "run", "-q", "--simulate", "h100", "-o", tmp_path / "cuda", "--", stepped, PROGRAMS / "instructions_operators", "cuda"])
    found = {region: round(sums[region] / times) for region, times in TIMES.items()}
    assert all(found.values()), f"a path executes nothing of Memoir's: {found}"
    if update:
        rows = "".join(f"{number:6} {region}\n" for region, number in found.items())
        COUNTS.write_text(HEAD + COMPILER + "\n" + rows)
        return
    differ = [f"{region}: {known[region]} before, {number} now" for region, number in found.items()
              if abs(number - known[region]) > TOLERANCE * known[region]]
    assert not differ, ("\n".join(differ) + "\nWhere that is meant: MEMOIR_UPDATE_GOLDEN=1 ctest --test-dir build/dev -R instructions/, "
                        "and say in the commit why")
