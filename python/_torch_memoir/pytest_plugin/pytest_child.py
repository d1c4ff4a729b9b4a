"""Runs one test in a separate process under `memoir run`. A script that the plug-in starts: python pytest_child.py REQUEST."""

from __future__ import annotations

import json
import sys


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    sys.path[:] = request["path"] + [one for one in sys.path[1:] if one not in request["path"]]  # the first one is this script's folder
    sys.argv[:] = ["pytest", *request["arguments"]]
    import pytest

    from _torch_memoir.pytest_plugin import _child_plugin

    return int(pytest.main(request["arguments"], plugins=[_child_plugin.ChildPlugin(request["nodeid"], request["file"], request["reports"])]))


if __name__ == "__main__":
    sys.exit(main())
