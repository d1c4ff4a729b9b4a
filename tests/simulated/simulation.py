"""Runs programs of the unmodified torch on the simulated GPU of the installed tree; with TESTED_ON_GPU=1 on a real one."""

import json
import os
import subprocess
import sys


ON_GPU = os.environ.get("TESTED_ON_GPU", "0") not in ("", "0")


def environment(tree, **variables):
    """The environment that the device and its values need, without any recording. On a real GPU without the simulated device's variables."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "PYTORCH_", "LD_PRELOAD"))}
    if ON_GPU:
        return {**clean, **{key: str(value) for key, value in variables.items() if not key.startswith("MEMOIR_SIM_")}}
    device = {"LD_PRELOAD": str(tree / "lib/memoir/libmemoir_simcuda.so"), "PYTHONPATH": str(tree / "lib/memoir/python")}
    return {**clean, **device, **{k: str(v) for k, v in variables.items()}}


def simulate(tree, source, *arguments, **variables):
    """The finished process of `source`."""
    command = [sys.executable, "-c", source, *map(str, arguments)]
    return subprocess.run(command, env=environment(tree, **variables), capture_output=True, text=True, timeout=300)


def answers(tree, source, *arguments, **variables):
    """The last line that `source` prints, parsed as JSON."""
    done = simulate(tree, source, *arguments, **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
