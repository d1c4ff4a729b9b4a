"""The `memoir` command that pip installs, and `python -m memoir`. It replaces the Python process by the program `memoir`."""

from __future__ import annotations

import os
import sys

from _torch_memoir import _library


def main() -> None:
    try:
        os.execv(_library.program(), sys.argv)  # the program reads the name of its command from the first word
    except _library.NoTracker as problem:
        sys.exit(f"memoir: {problem}")
