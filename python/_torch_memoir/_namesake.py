"""Loads the program's module `memoir` in place of Memoir's package, if the program has a module of this name.

`memoir run` puts Memoir's folder on sys.path before the folders of installed packages, so Python finds Memoir first.

    # serve.py imports the package `memoir` of site-packages, and gets it although Memoir's folder comes first
    PYTHONPATH=/opt/memoir/lib/memoir/python python serve.py
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


def take_over(package: str) -> None:
    """Called by Memoir's package `memoir`, in the folder `package`, while it is imported. Loads the program's module in its place if there is one."""
    if os.path.isdir(os.path.join(package, "_tree")):  # a wheel: it was installed next to the program on purpose
        return
    spec = _find(os.path.dirname(package))
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["memoir"] = module  # importlib returns the module that is here when the import ends
        spec.loader.exec_module(module)


def _find(folder: str) -> ModuleSpec | None:
    """The first module `memoir` on sys.path without Memoir's own `folder`. A folder without __init__.py is skipped, as in any import."""
    elsewhere = [entry for entry in sys.path if os.path.realpath(entry) != os.path.realpath(folder)]
    for finder in sys.meta_path:
        spec = finder.find_spec("memoir", elsewhere if finder is importlib.machinery.PathFinder else None)
        if spec is not None and spec.origin is not None and not _is_memoirs(spec.origin):
            return spec
    return None


def _is_memoirs(origin: str) -> bool:
    """Whether this is the package of an installation of Memoir: in a wheel or in an installed tree."""
    package = os.path.dirname(origin)
    return os.path.isdir(os.path.join(package, "_tree")) or os.path.isdir(os.path.join(os.path.dirname(package), "_torch_memoir"))
