"""Runs programs of the unmodified torch on the simulated GPU of the installed tree."""

import json
import os
import subprocess
import sys


def environment(tree, **variables):
    """What the device with its values needs, without any recording."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "PYTORCH_", "LD_PRELOAD"))}
    device = {"LD_PRELOAD": str(tree / "lib/memoir/libmemoir_simcuda.so"), "PYTHONPATH": str(tree / "lib/memoir/python")}
    return {**clean, **device, **{k: str(v) for k, v in variables.items()}}


def simulate(tree, source, *arguments, **variables):
    """The finished process of `source`."""
    command = [sys.executable, "-c", source, *map(str, arguments)]
    return subprocess.run(command, env=environment(tree, **variables), capture_output=True, text=True, timeout=300)


def answers(tree, source, *arguments, **variables):
    """What `source` prints last, as JSON."""
    done = simulate(tree, source, *arguments, **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
