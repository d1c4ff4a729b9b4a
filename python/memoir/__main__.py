"""`python -m memoir`, and the `memoir` command that pip installs: hands over to the program."""

from __future__ import annotations

import os
import sys

from memoir import _library


def main() -> None:
    try:
        os.execv(_library.program(), ["memoir", *sys.argv[1:]])
    except _library.NoTracker as problem:
        sys.exit(f"memoir: {problem}")


if __name__ == "__main__":
    main()
