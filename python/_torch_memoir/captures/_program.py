"""Runs the installed program `memoir` on a capture: the package reads captures only through it."""

from __future__ import annotations

import os

from _torch_memoir import _library

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOUND = 3  # exit code of a check with a finding


class CaptureError(RuntimeError):
    """A capture cannot be read, or not with these options. The message is the program's and names the fix."""


def run(verb: Sequence[str], options: Mapping[str, object], arguments: Sequence[str], stdout: int | None = None) -> tuple[bytes, list[str], bool]:
    """Runs a command. Returns its standard output (empty if it goes to a descriptor `stdout`), the lines of its standard error, and whether the
    command has a finding."""
    import subprocess

    try:
        program = _library.program()
    except _library.NoTracker as problem:
        raise CaptureError(str(problem)) from None
    paths = [os.path.join(".", one) if one.startswith("-") else one for one in arguments]
    command = [program, *verb, *paths, *words(options)]  # options last, because an option with several values would take a path after it
    try:
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if stdout is None else stdout, stderr=subprocess.PIPE, env=_environment())
    except OSError as problem:
        what_to_do = "; install Memoir again" if isinstance(problem, (FileNotFoundError, PermissionError)) else ""
        raise CaptureError(f"cannot start {program}: {problem.strerror}{what_to_do}") from None
    said = [line.removeprefix("memoir: ") for line in done.stderr.decode("utf-8", "replace").splitlines()]
    if done.returncode not in (0, _FOUND):  # an unknown figure of --fail-if also ends here
        wrong = [line for line in said if not line.startswith("see ")]  # the hint to --help
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise CaptureError("\n".join(wrong) or f"memoir {' '.join([*verb, *arguments])} ended with {ended}")
    return done.stdout or b"", said, done.returncode == _FOUND


def words(options: Mapping[str, object]) -> list[str]:
    """Options as words of the command line: from_="20ms" is --from=20ms, dark=True is --dark, a list is an option given several times."""
    found: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            found.append(option)
        elif isinstance(value, (list, tuple)):
            found += [f"{option}={_text(one)}" for one in value]
        elif value is not None and value is not False:
            found.append(f"{option}={_text(value)}")
    return found


def _text(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)


def _environment() -> dict[str, str]:
    """The environment without variables that would record the program."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMOIR_") and name != "LD_PRELOAD"}
