"""Calls one function in a separate process under `memoir run`. A script that memoir_capture starts: python call_child.py CALL."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import types


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        call = pickle.load(file)
    sys.path[:] = call["path"] + [one for one in sys.path[1:] if one not in call["path"]]  # the first one is this script's folder
    found: object = _module(call["module"], call["file"])
    for name in call["function"].split("."):
        found = getattr(found, name)
    if not callable(found):
        sys.exit(f"{call['module']}.{call['function']} is no function")
    found(*pickle.loads(call["arguments"]))


def _module(name: str, path: str) -> types.ModuleType:
    """Imports the module `name`. Loads `path` if the name does not lead to this file, as with pytest's --import-mode=importlib."""
    try:
        module = importlib.import_module(name)
        if module.__file__ is not None and os.path.samefile(module.__file__, path):
            return module
    except ModuleNotFoundError as problem:
        if problem.name is None or not (name + ".").startswith(problem.name + "."):
            raise
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        sys.exit(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
