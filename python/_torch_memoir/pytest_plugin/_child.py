"""Runs a program or a test in a child process under `memoir run`. Returns how the process ended, and its messages."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from _torch_memoir import _library
from _torch_memoir.pytest_plugin import _paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

TimeoutExpired = subprocess.TimeoutExpired

_TO_END = 5.0  # seconds between SIGTERM and SIGKILL for a child
_TAIL = 30  # lines of a child's output in a message
_FRAMES = 12  # lines of a child's output in a message after a crash


class RecordingError(Exception):
    """There is no capture, or it misses a part of the test; the message says why."""


@dataclasses.dataclass
class ChildResult:
    """A child that has ended: its capture, the lines of its report, and how it ended."""

    capture: pathlib.Path
    lines: list[dict[str, Any]]
    code: int
    output: str

    @property
    def tail(self) -> str:
        """The last lines of its output, indented; after a crash the innermost frames, which Python prints first."""
        lines = self.output.splitlines()
        crash = next((number for number, line in enumerate(lines) if "Fatal Python error" in line), None)
        return "".join(f"  {line}\n" for line in (lines[-_TAIL:] if crash is None else lines[crash : crash + _FRAMES]))

    @property
    def memoir_lines(self) -> str:
        """The lines of its output that `memoir run` printed, else the last lines."""
        return "".join(f"  {line}\n" for line in self.output.splitlines() if line.startswith("memoir: ")) or self.tail

    @property
    def end(self) -> str:
        """How the process ended, in words."""
        number = -self.code if self.code < 0 else self.code - 128
        try:
            name = signal.Signals(number).name
        except ValueError:
            return f"ended with exit code {self.code}"
        hint = " (as when the system runs out of memory)" if name == "SIGKILL" else ""
        return f"was ended by signal {number}, {name}{hint}"

    def values_of(self, key: str) -> list[Any]:
        return [line[key] for line in self.lines if key in line]


def run_test(item: pytest.Item, options: Sequence[str]) -> ChildResult:
    """Runs the test in a child under `memoir run`, with the arguments of this pytest."""
    config = item.config
    folder, capture = _paths.scratch(config, item.nodeid), _paths.capture(config, item.nodeid)
    reports = folder / "reports.jsonl"
    request = {"path": sys.path, "arguments": _arguments(config, folder / "tmp"), "nodeid": item.nodeid, "file": str(item.path), "reports": str(reports)}
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    script = pathlib.Path(__file__).with_name("pytest_child.py")
    code, output = under_memoir(config, capture, options, [*_interpreter(), str(script), str(folder / "request.json")], folder / "output.txt")
    return ChildResult(capture, _read(reports), code, output)


def under_memoir(
    config: pytest.Config, capture: pathlib.Path, options: Sequence[str], command: Sequence[str], output: pathlib.Path, timeout: float | None = None
) -> tuple[int, str]:
    """Runs a command that records into `capture`. Returns its exit code and output. With -s or --pdb, the command uses the terminal."""
    try:
        program = _library.program()
    except _library.NoTracker as problem:
        raise RecordingError(str(problem)) from None
    shown = config.getoption("capture") == "no" or config.getoption("usepdb") or config.getoption("trace")
    capturing = config.pluginmanager.getplugin("capturemanager")
    with contextlib.ExitStack() as stack:
        if shown and capturing is not None:
            capturing.suspend(in_=True)  # standard input as well, for pdb
            stack.callback(capturing.resume)
        stdin, stdout, stderr = (None, None, None) if shown else (subprocess.DEVNULL, stack.enter_context(open(output, "wb")), subprocess.STDOUT)
        full = [program, "run", "-q", "-o", str(capture), *options, "--", *command]
        try:
            process = subprocess.Popen(full, cwd=config.invocation_params.dir, env=_environment(), stdin=stdin, stdout=stdout, stderr=stderr)
        except OSError as problem:
            raise RecordingError(f"cannot start {program}: {problem.strerror}") from None
        try:
            code = process.wait(timeout)
        finally:
            _end(process)
    return code, "" if shown else output.read_text(encoding="utf-8", errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a child that still runs: the test was interrupted, or a time limit of pytest's has passed."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _interpreter() -> list[str]:
    return [sys.executable, *["-O"] * sys.flags.optimize, *[f"-W{one}" for one in sys.warnoptions]]


def _arguments(config: pytest.Config, temporary: pathlib.Path) -> list[str]:
    """The arguments of this pytest, then those that are different for the child."""
    of_a_worker = getattr(config, "workerinput", {}).get("memoir_arguments")
    given = [os.fspath(one) for one in (of_a_worker if of_a_worker is not None else config.invocation_params.args)]
    positional = given[given.index("--") :] if "--" in given else []
    ours = [f"--basetemp={temporary}"]
    if config.pluginmanager.hasplugin("xdist"):
        ours.append("-n0")
    if config.pluginmanager.hasplugin("pytest_cov"):
        ours.append("--no-cov")
    return [*given[: len(given) - len(positional)], *ours, *positional]


def _environment() -> dict[str, str]:
    """The environment without variables of a recording, or of the coverage, of this process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMOIR_", "COV_CORE_"))}
    preloaded = [one for one in kept.pop("LD_PRELOAD", "").replace(":", " ").split() if not os.path.basename(one).startswith("libmemoir")]
    return {**kept, **({"LD_PRELOAD": ":".join(preloaded)} if preloaded else {})}


def _read(reports: pathlib.Path) -> list[dict[str, Any]]:
    found = []
    if reports.exists():
        for line in reports.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:  # the process was killed in the middle of a line
                break
    return found
