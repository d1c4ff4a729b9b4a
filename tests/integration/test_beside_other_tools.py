"""memray and jemalloc together with Memoir, which all replace functions (import slots, LD_PRELOAD): the program behaves as with them alone, memray reports the
same allocations, and Memoir records it."""

import ctypes.util
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

from recording import events, show
from test_changes_nothing import EXPECTED, KINDS, PROGRAMS, ranges_of_programs

NAMES = ["threads", "exceptions", "checkpointing", "double_backward", "faults"]
MIB = 1 << 20

# Two large blocks, one of a thread, then the ordinary programs. With jemalloc it says whether that serves it.
PROGRAM = '''
import ctypes, runpy, sys, threading
import torch
kept = [torch.ones(12 << 20)]
thread = threading.Thread(target=lambda: kept.append(torch.ones(6 << 20)))
thread.start(), thread.join()
if sys.argv[2] == "jemalloc":
    amount, size = ctypes.c_uint64(), ctypes.c_size_t(8)
    assert ctypes.CDLL(None).mallctl(b"thread.allocated", ctypes.byref(amount), ctypes.byref(size), None, ctypes.c_size_t(0)) == 0
    assert amount.value > 48 << 20
sys.argv = sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
'''


class Alone:
    """The program with one of the tools, and what the tool saw of it."""

    def __init__(self, tool, program, folder, launcher=()):
        command, environment = [sys.executable], dict(os.environ)
        if tool == "memray":
            command += ["-m", "memray", "run", "-q", "-o", folder / "memray.bin"]
        else:
            environment["LD_PRELOAD"] = ctypes.util.find_library("jemalloc")
        command = [*launcher, *command, program, folder, tool, PROGRAMS, folder, *NAMES]
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        self.said, self.errors = json.loads(done.stdout), done.stderr
        self.blocks = blocks_of(folder, program) if tool == "memray" else None


def blocks_of(folder, program):
    """(line of the program, MiB) of what memray found to be live at the peak."""
    import memray

    found = []
    with memray.FileReader(folder / "memray.bin") as reader:
        for record in reader.get_high_watermark_allocation_records(merge_threads=True):
            stack = record.stack_trace(max_stacks=1)
            if record.size >= MIB and stack and pathlib.Path(stack[0][1]) == program:
                found.append((stack[0][2], record.size // MIB))  # with the few KiB that Memoir takes there for an operator's name
    return sorted(found)


def require(tool):
    if tool == "memray" and importlib.util.find_spec("memray") is None:
        pytest.skip("memray is not installed here: setup/requirements.txt names it")
    if tool == "jemalloc" and ctypes.util.find_library("jemalloc") is None:
        pytest.skip("jemalloc is not installed here: setup/apt-packages.txt names it")


@pytest.fixture(scope="module", params=["memray", "jemalloc"])
def alone(tmp_path_factory, request):
    require(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    return request.param, program, Alone(request.param, program, folder)


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("kind", KINDS)
def test_both_work(tree, tmp_path, alone, kind):
    tool, program, bare = alone
    capture = tmp_path / "capture"
    both = Alone(tool, program, tmp_path, [tree / "bin" / "memoir", "run", "-q", "--ops", kind, "-o", capture, "--"])
    assert both.said == bare.said and set(bare.said) == set(NAMES)
    assert both.errors == bare.errors
    if tool == "memray":
        assert both.blocks == bare.blocks and [size for _, size in bare.blocks] == [48, 24]
    assert show(tree, capture)["dropped_events"] == 0
    ranges = ranges_of_programs(events(tree, capture))
    for name in NAMES:
        everywhere, *one = EXPECTED[name]
        expected = {**everywhere, **one[KINDS.index(kind)]}
        assert {operator: ranges[name][operator] for operator in expected} == expected
