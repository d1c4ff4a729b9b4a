"""Runs one test in a process of its own, under `memoir run`. A script, which the plug-in starts: python pytest_child.py REQUEST."""

from __future__ import annotations

import json
import sys


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    sys.path[:] = request["path"] + [one for one in sys.path[1:] if one not in request["path"]]  # the first one is this script's folder
    sys.argv[:] = ["pytest", *request["arguments"]]
    import pytest

    from memoir.pytest_plugin import _inside

    return int(pytest.main(request["arguments"], plugins=[_inside.Inside(request["nodeid"], request["file"], request["reports"])]))


if __name__ == "__main__":
    sys.exit(main())
