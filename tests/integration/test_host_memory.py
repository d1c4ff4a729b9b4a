"""The host's memory: what is read of a run, who has it, and a run that its cgroup's out-of-memory killer ends."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from recording import record, run_memoir

MIB = 1 << 20

HOLDS = """
import json, multiprocessing.shared_memory, subprocess, time, torch, memoir
memoir.step(0)
tensor = torch.ones(200 << 18)                  # 200 MiB
memoir.step(1)
text = b"x" * (150 << 20)                       # of Python
shared = multiprocessing.shared_memory.SharedMemory(create=True, size=100 << 20)
for i in range(100):                            # no more at any time than at the end
    shared.buf[i << 20 : (i + 1) << 20] = b"x" * (1 << 20)
memoir.step(2)
def shared_of_the_highest_reading():
    memoir.flush()
    found = json.loads(subprocess.run(["memoir", "check", "host", "--json", memoir.output_dir()], stdout=subprocess.PIPE).stdout)
    return sum(part["bytes"] for part in found["host_memory"][0]["highest"]["parts"] if part["part"] == "shared")
end = time.monotonic() + 200
while shared_of_the_highest_reading() < 100 << 20 and time.monotonic() < end: time.sleep(0.2)
shared.close(); shared.unlink()
"""


def check(tree, capture, *options):
    done = run_memoir(tree, "check", "host", "--json", *options, capture)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout), done.returncode


def parts(moment):
    return {row["part"]: row["bytes"] for row in moment["parts"]}


def test_who_has_it(tree, tmp_path):
    capture, done = record(tree, tmp_path, HOLDS)
    assert done.returncode == 0, done.stderr
    found, code = check(tree, capture)
    (process,) = found["host_memory"]
    highest = process["highest"]
    held = parts(highest)
    assert sum(held.values()) == highest["resident_bytes"] > 450 * MIB and process["readings"] >= 3
    assert held["tensors"] >= 200 * MIB and held["shared"] >= 100 * MIB and held["malloc"] + held["other"] >= 150 * MIB
    assert held["files"] > 50 * MIB, "torch's libraries"
    assert highest["machine_bytes"] > highest["machine_available_bytes"] > 0
    text = run_memoir(tree, "check", "host", capture)
    assert text.returncode == code and "torch's tensors on the CPU" in text.stdout and "shared memory (/dev/shm)" in text.stdout
    assert max(map(len, text.stdout.splitlines())) <= 80
    every = run_memoir(tree, "check", capture)
    assert "\nhost" in every.stdout, every.stdout


def cgroup_with(limit):
    """A memory cgroup below this process's with that limit, as version 1 or 2 has it; skips where none can be made."""
    groups = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    own1 = [line.split(":", 2)[2] for line in groups if "memory" in line.split(":", 2)[1].split(",")]
    own2 = [line.split(":", 2)[2] for line in groups if line.startswith("0::")]
    if own1 and pathlib.Path("/sys/fs/cgroup/memory").is_dir():
        root, own, name = "/sys/fs/cgroup/memory", own1[0], "memory.limit_in_bytes"
    else:
        root, own, name = "/sys/fs/cgroup", own2[0] if own2 else "/", "memory.max"
    folder = pathlib.Path(root + own) / f"memoir-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / name).write_text(str(limit))
        for swap in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
            if (folder / swap).exists():
                (folder / swap).write_text(str(limit) if "memsw" in swap else "0")
    except OSError as error:
        if folder.exists():
            folder.rmdir()
        pytest.skip(f"no memory cgroup can be made here: {error}")
    return folder


GROWS = """
import torch, time
kept = []
while True:
    kept.append(torch.ones(20 << 18))           # 20 MiB
    time.sleep(0.1)                             # less than a tenth of the limit between two readings
"""


def test_a_run_that_its_cgroup_kills(tree, tmp_path):
    group = cgroup_with(1 << 30)
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(GROWS)
    try:
        done = subprocess.run([tree / "bin" / "memoir", "run", "-o", capture, "--", sys.executable, program], capture_output=True, text=True, timeout=200,
                              cwd=tmp_path, preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))
    finally:
        group.rmdir()
    assert done.returncode == -9, done.stderr
    said = " ".join(done.stderr.replace("memoir:", "").split())
    assert "KILLED by the out-of-memory killer of its cgroup" in said and "check host" in said, done.stderr
    found, code = check(tree, capture)
    assert code == 3
    (process,) = found["host_memory"]
    assert process["findings"][:2] == ["killed", "near_limit"], process["findings"]
    assert process["last"]["cgroup_limit_bytes"] == 1 << 30 and process["nearest_limit"]["headroom_bytes"] < 100 * MIB
    assert process["tensors_at_end_bytes"] > 300 * MIB
    text = run_memoir(tree, "check", "host", capture).stdout
    assert "KILLED" in text and "near its limit" in text, text
