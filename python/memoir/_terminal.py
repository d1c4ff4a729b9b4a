"""What the package says to the person at the terminal. Nothing that is wrong with the terminal reaches the program."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    """One line on standard error; none where there is no standard error, or it takes none (closed, full, at the other end of a broken pipe)."""
    try:
        if sys.stderr is not None:  # print would take standard output instead
            print(line, file=sys.stderr)
    except Exception:
        pass
