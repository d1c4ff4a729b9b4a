"""Start-up inside a program that knows nothing of Memoir: torch's import ends here, and recording starts if the environment asks.

Whatever goes wrong is one line on standard error; the program runs on.
"""

import os
import sys

_OFF = {"", "0", "false", "off", "no"}


def from_torch():
    if os.environ.get("MEMOIR_ENABLE", "").lower() not in _OFF:
        _guarded(_take_part)


def _take_part():
    import torch
    from memoir import _processes, _recording

    version = torch.__version__
    part = _processes.part(lambda: _guarded(_take_part))
    if part == _processes.RECORDS:
        _recording.start_by_environment(version)
    elif part == _processes.WAITS:
        _recording.watch_by_environment(version)


def _guarded(start):
    try:
        start()
    except Exception as problem:
        said = _say(f"not recording: {problem}")
        _leave_note(problem, said)


def _say(line):
    try:
        from memoir import _processes

        if not _processes.speaks():
            return False
    except Exception:
        pass  # then rather once too often
    print(f"memoir: {line}", file=sys.stderr)
    return True


def _leave_note(problem, said):
    """For `memoir run`, which made the folder and takes the note away: why there is no capture in it, and whether that was said."""
    folder = os.environ.get("MEMOIR_OUTPUT", "")
    try:
        if os.path.isdir(folder):
            with open(os.path.join(folder, f".not-recorded.{os.getpid()}{'' if said else '.unsaid'}"), "w") as note:
                note.write(f"{problem}\n")
    except OSError:
        pass
