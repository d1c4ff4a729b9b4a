"""`memoir run` and its program: signals to the one, the other, or both."""

import mmap
import os
import signal
import struct
import subprocess
import sys
import time

from faults import fault
from lab import HANGS_AFTER

PROGRAM = """
import mmap, os, struct, sys, torch
torch.set_num_threads(1)
page = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 16)
page[8:16] = struct.pack("<q", os.getpid())
a = torch.ones(1)
for count in range(1, int(sys.argv[2]) + 1):
    torch.add(a, a)
    page[:8] = struct.pack("<q", count)
"""


def is_there(process):
    try:
        with open(f"/proc/{process}/stat") as line:
            fields = line.read().rsplit(")", 1)[1].split()
        return fields[0] not in "ZX" or int(fields[17]) > 1
    except OSError:
        return False


def interrupted(lab, act, times=1_000_000_000):
    """One try: `act` on the processes of memoir run and of its program once a few thousand calls were counted. Both end, as they may."""
    folder = lab.new_folder()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "counts").write_bytes(bytes(16))
    command = [lab.tree / "bin" / "memoir", "run", "-q", "-o", folder / "capture", "--ring-dir", folder / "ring", "--", sys.executable, folder / "program.py",
               folder / "counts", str(times)]
    running = subprocess.Popen(command, cwd=folder / "here", start_new_session=True, stderr=subprocess.PIPE, text=True)
    with open(folder / "counts", "r+b") as file:
        page = mmap.mmap(file.fileno(), 16)
    at, give_up, acted = lab.random.randrange(1000, 50_000), time.monotonic() + HANGS_AFTER, False
    while True:
        count, process = struct.unpack("<2q", page[:])
        if not acted and count >= min(at, times):
            act(running.pid, process)
            acted = True
        hung = time.monotonic() > give_up
        if hung:
            os.killpg(running.pid, signal.SIGKILL)
        if running.poll() is not None and not is_there(process):
            break
        time.sleep(0.001)
    said = [line for line in running.stderr.read().splitlines() if line.startswith("memoir: ")]
    count, _ = struct.unpack("<2q", page[:])
    answer = {"count": count, "ended": "hung" if hung else "signal", "said": said, "problem": "", "right": True}
    result = lab.judge(folder, answer, ["signal"], 0)
    lab.remove(folder)
    return result


def signal_both(name):
    return lambda run, program: os.killpg(run, getattr(signal, name))


def signal_run(name):
    return lambda run, program: os.kill(run, getattr(signal, name))


@fault("SIGINT to `memoir run` and its program together, as Ctrl-C does; SIGHUP, SIGTERM, SIGQUIT", only_long=True)
def both(lab, long):
    for _ in range(5):
        for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGQUIT"):
            yield interrupted(lab, signal_both(name))


@fault("SIGTERM to `memoir run` alone", only_long=True)
def run_alone(lab, long):
    for _ in range(5):
        yield interrupted(lab, signal_run("SIGTERM"), 100_000)


@fault("SIGKILL to `memoir run` alone: its program goes on", only_long=True)
def run_killed(lab, long):
    for _ in range(5):
        yield interrupted(lab, signal_run("SIGKILL"), 100_000)


@fault("SIGKILL to `memoir run` and its program together", only_long=True)
def both_killed(lab, long):
    for _ in range(10):
        yield interrupted(lab, signal_both("SIGKILL"))
