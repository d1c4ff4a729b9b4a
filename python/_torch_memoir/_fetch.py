"""Downloads files of a job from an object store, for `memoir collect`. Arguments: URL INTO COLLECTED PATTERNS.

INTO: the folder for the files. COLLECTED: the folder with files of earlier downloads. PATTERNS: a file with one pattern a line.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import posixpath
import re
import sys


def is_there(path: str, size: int | None) -> bool:
    """Whether the file was downloaded before. A part only grows, so equal size means equal content. Other files, such as summaries, are always downloaded."""
    return path.endswith(".memoir") and os.path.exists(path) and os.path.getsize(path) == size


def reason(problem: Exception) -> str:
    lines = str(problem).strip().splitlines() or [""]
    return f"{type(problem).__name__}: {lines[0]}"


def main(arguments: list[str]) -> int:
    import fsspec

    address, into, collected, patterns = arguments
    with open(patterns, encoding="utf-8") as file:
        wanted = re.compile("|".join(fnmatch.translate(line.rstrip("\n")) for line in file))
    failed = 0
    try:
        system, folder = fsspec.core.url_to_fs(address)
        entries = system.ls(folder, detail=True)
    except Exception as problem:  # any error of any store: its first line is shown to the user
        print(reason(problem), file=sys.stderr)
        return 1
    for entry in entries:
        name = posixpath.basename(entry["name"])
        if entry["type"] != "file" or not wanted.match(name) or is_there(os.path.join(collected, name), entry.get("size")):
            continue
        path = os.path.join(into, name)
        try:
            system.get_file(entry["name"], path + ".partial")
            with contextlib.suppress(Exception):  # not every store has the time of the last change
                modified = system.modified(entry["name"]).timestamp()
                os.utime(path + ".partial", (modified, modified))
            os.replace(path + ".partial", path)
        except Exception as problem:
            print(f"{name}: {reason(problem)}", file=sys.stderr)
            failed = 1
    return failed
