"""Runs the programs of published runs on the profile of the same card, and prints how far torch's figures are from theirs.

A fact (facts.json) is a published run: its source, card, torch version, program, and torch's figures there. A result is the same figures from the simulated
card.
"""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FACTS = HERE / "facts.json"
BYTES = ("peak_allocated", "peak_active", "peak_reserved", "peak_requested", "start_allocated", "start_reserved", "end_allocated", "end_reserved")
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

# The facts that the suite always runs: 2 to 5 seconds of processor time each.
FAST = ("a100-forward-128", "h100-forward-128-fresh", "h100-forward-256", "linear", "attention", "train-2560-128", "train-2560-256", "train-bf16-2560-128",
        "train-bf16-1600-256", "backward-2560-256")


def facts():
    return json.loads(FACTS.read_text())


def environment(tree, card, **variables):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "PYTORCH_", "LD_PRELOAD", "CUBLAS"))}
    device = {"LD_PRELOAD": str(tree / "lib/memoir/libmemoir_simcuda.so"), "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_SIM_GPU": card,
              "MEMOIR_SIM_ADDRESSES": "linux"}
    return {**clean, **device, **variables}


def run(tree, fact, python=sys.executable, **variables):
    """The figures, and the seconds of processor time they took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [python, HERE / "programs.py", FACTS, fact["name"]]
    done = subprocess.run(command, env=environment(tree, fact["card"], **variables), capture_output=True, text=True, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr[-3000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def numbers_of(message):
    """Figures of an out-of-memory error: requested, total, free, in use by the process, allocated by PyTorch, reserved but unallocated; as bytes."""
    texts = message if isinstance(message, list) else re.findall(r"[\d.]+ (?:bytes|KiB|MiB|GiB)", message)
    return [round(float(text.split()[0]) * UNITS[text.split()[1]]) for text in texts[:6]]


def events_agree(fact, result):
    """As many events of each kind, and segments of the same sizes."""
    return all(fact["real"][key] == result[key] for key in ("event_kinds", "segment_sizes"))


def error(real, found):
    """Of `found` against `real`, as a part of it."""
    return (found - real) / real
