"""The source files of a tree, as the rules see them."""

import dataclasses
import functools
import os
import pathlib
import re

FOLDERS = ("interpose", "simcuda", "tracker", "tools", "proto", "python", "tests", "examples", "docs", "skills", "cmake", "setup", "bazel-compat")
CXX = (".h", ".hpp", ".cc", ".def")


@dataclasses.dataclass(frozen=True)
class Rule:
    """`check(tree)` yields one line per violation. Each seed is a small tree (path -> text) that must be found guilty."""

    check: object
    seeds: tuple

    @property
    def name(self):
        return self.check.__name__


@dataclasses.dataclass(frozen=True)
class Source:
    path: str  # from the root, with "/"
    text: str

    @property
    def folder(self):
        return self.path.rpartition("/")[0]

    @property
    def stem(self):
        return self.path.rpartition("/")[2].split(".")[0]

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @functools.cached_property
    def lines(self):
        return self.text.split("\n")

    @functools.cached_property
    def code_lines(self):
        """Lines with comments blanked; strings stay. For C++ only."""
        blank = lambda match: re.sub(r"[^\n]", " ", match.group(0)) if match.group(0)[0] == "/" else match.group(0)
        return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', blank, self.text, flags=re.S).split("\n")

    @functools.cached_property
    def includes(self):
        """(line number, path, whether in angle brackets)"""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if match:
                found.append((number, match.group(2), match.group(1) == "<"))
        return found


@functools.lru_cache(maxsize=4)
def sources(tree):
    """Every text file of the tree's own folders and root, sorted by path. Built and hidden things are left out."""
    tree = pathlib.Path(tree)
    found = [path for path in tree.iterdir() if path.is_file() and not path.name.startswith(".")]
    for top in FOLDERS:
        for folder, folders, names in os.walk(tree / top):
            folders[:] = [name for name in folders if not name.startswith((".", "__pycache__", "node_modules"))]
            found += [pathlib.Path(folder, name) for name in names]
    result = []
    for path in sorted(found):
        try:
            result.append(Source(path.relative_to(tree).as_posix(), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue  # a capture, a pickle: not text
    return tuple(result)


def cxx_sources(tree, *folders):
    """C++ files below `folders` (default: all)."""
    return [s for s in sources(tree) if s.suffix in CXX and (not folders or s.path.startswith(tuple(f + "/" for f in folders)))]
