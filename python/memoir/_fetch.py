"""Brings files of a job from an object store, for `memoir collect`: URL INTO COLLECTED PATTERN..."""

from __future__ import annotations

import fnmatch
import os
import posixpath
import sys


def is_there(path: str, size: int | None) -> bool:
    """A recording's file only grows, so that one of the same size is the same; a summary is written anew."""
    return path.endswith(".memoir") and os.path.exists(path) and os.path.getsize(path) == size


def main(arguments: list[str]) -> int:
    import fsspec

    address, into, collected, *patterns = arguments
    try:
        system, folder = fsspec.core.url_to_fs(address)
        for entry in system.ls(folder, detail=True):
            name = posixpath.basename(entry["name"])
            wanted = entry["type"] == "file" and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
            if wanted and not is_there(os.path.join(collected, name), entry.get("size")):
                system.get_file(entry["name"], os.path.join(into, name))
    except Exception as problem:  # of any store: its last line is what the user gets
        said = str(problem).strip().splitlines() or [""]
        print(f"{type(problem).__name__}: {said[0]}", file=sys.stderr)
        return 1
    return 0
