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
