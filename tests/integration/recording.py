"""Shared by the integration tests: record a program with the installed memoir, and read its answers for the capture."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading


def run_memoir(tree, *arguments, timeout=300, **options):
    return subprocess.run([tree / "bin" / "memoir", *arguments], capture_output=True, text=True, timeout=timeout, **options)


def record(tree, folder, source, *arguments, options=(), **popen):
    """Runs `source` under `memoir run -q`; the capture's path and the finished process."""
    program, capture = folder / "program.py", folder / "capture"
    program.write_text(source)
    done = run_memoir(tree, "run", "-q", "-o", capture, *options, "--", sys.executable, program, *map(str, arguments), **popen)
    return capture, done


def run_explicit(tree, folder, source, *arguments, environment=None, **popen):
    """Runs `source`, which imports memoir itself, with the installed package on its path and nothing else of Memoir's."""
    program = folder / "program.py"
    program.write_text(source)
    environment = {**(environment or os.environ), "PYTHONPATH": str(tree / "lib" / "memoir" / "python")}
    return subprocess.run([sys.executable, program, *map(str, arguments)], env=environment, capture_output=True, text=True,
                          timeout=300, **popen)


def show(tree, capture, *options):
    done = run_memoir(tree, "show", "--json", *options, capture)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def counts(report):
    return {row["name"]: row["count"] for row in report["operators"]}


def events(tree, capture):
    return list(each_event(tree, capture))


def each_event(tree, capture, timeout=300):
    """One after another: the events of a large recording take gigabytes."""
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(
            [tree / "bin" / "memoir", "export", "events", capture], stdout=subprocess.PIPE, stderr=errors, text=True) as exporting:
        watch = threading.Timer(timeout, exporting.kill)
        watch.start()
        try:
            for line in exporting.stdout:
                yield json.loads(line)
        finally:
            watch.cancel()
        errors.seek(0)
        assert exporting.wait() == 0, errors.read()


def without_times(text):
    """Lines of standard error: torch's log says when, and in which process and thread."""
    return [re.sub(r"\d+", "#", line) for line in text.splitlines()]
