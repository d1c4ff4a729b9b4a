"""How benchmarks run their contestants: a program that prints its figures as JSON, last, alone or recorded as in real use."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def alone(name, command, **variables):
    """The last line that the program prints. Exits if the program fails."""
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def recorded(memoir, options, command, view=()):
    """The last line that the program prints, the answer of `memoir show --json` for its capture, and the capture's bytes; `view`: further options of show."""
    folder = tempfile.mkdtemp(prefix="memoir-benchmark-")
    try:
        done = subprocess.run([memoir, "run", "-q", *options, "-o", f"{folder}/capture", "--", *command], check=True, capture_output=True, text=True)
        shown = json.loads(subprocess.run([memoir, "show", *view, "--json", f"{folder}/capture"], check=True, capture_output=True, text=True).stdout)
        assert shown["dropped_events"] == 0, "events were dropped"
        return done.stdout.splitlines()[-1], shown, sum(part.stat().st_size for part in pathlib.Path(folder, "capture").glob("*.memoir"))
    finally:
        shutil.rmtree(folder)


def in_turn(contestants, rounds, run):
    """The results of `run` for each contestant, once per round."""
    found = {name: [] for name in contestants}
    for number in range(rounds):
        for name in contestants:
            print(f"round {number + 1}/{rounds} {name}", file=sys.stderr)
            found[name].append(run(name))
    return found
