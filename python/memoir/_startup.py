"""Start-up inside a program that knows nothing of Memoir: torch's import ends here, and recording starts if the environment asks.

Whatever goes wrong is one line on standard error; the program runs on.
"""

import os
import sys

_OFF = {"", "0", "false", "off", "no"}


def from_torch():
    if os.environ.get("MEMOIR_ENABLE", "").lower() in _OFF:
        return
    try:
        import torch
        from memoir import _recording

        _recording.start_by_environment(torch.__version__)
    except Exception as problem:
        print(f"memoir: not recording: {problem}", file=sys.stderr)
        _leave_note(problem)


def _leave_note(problem):
    """For `memoir run`, which made the folder: why there is no capture in it has been said. It takes the note away."""
    folder = os.environ.get("MEMOIR_OUTPUT", "")
    try:
        if os.path.isdir(folder):
            with open(os.path.join(folder, f".not-recorded.{os.getpid()}"), "w") as note:
                note.write(f"{problem}\n")
    except OSError:
        pass
