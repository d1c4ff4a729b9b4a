"""SIGKILL at random instants: everything that the victim had counted is in the capture afterwards."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from recording import counts, show

VICTIM = '''
import mmap, os, struct, sys, torch
torch.set_num_threads(1)
page = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 8)
a, b = torch.ones(1), torch.ones(1)
count = 0
while True:
    torch.add(a, b)
    count += 1
    page[:8] = struct.pack("<q", count)
'''


def counted(path):
    return int.from_bytes(path.read_bytes(), "little")


@pytest.mark.parametrize("seed", range(6))
def test_killed_program_loses_nothing(tree, tmp_path, seed):
    victim, count, capture = tmp_path / "victim.py", tmp_path / "count", tmp_path / "capture"
    victim.write_text(VICTIM)
    count.write_bytes(bytes(8))
    running = subprocess.Popen([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, victim, count],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while counted(count) == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert counted(count) > 0, "the victim never started"
    time.sleep(random.Random(seed).uniform(0, 1.5))
    child = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    os.kill(int(child[0]), signal.SIGKILL)
    _, errors = running.communicate(timeout=300)
    assert running.returncode == -signal.SIGKILL, errors

    report = show(tree, capture)
    adds = counts(report)["aten::add.Tensor"]
    assert counted(count) <= adds <= counted(count) + 1
    assert report["dropped_events"] == 0
