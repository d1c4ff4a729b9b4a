"""clang-tidy over the C++ sources, as .clang-tidy configures it, with the compiler's own flags (compile_commands.json of the build).

A file takes seconds, so a clean file is not checked again, not in another clone either: ~/.cache/memoir/clang-tidy has hashes of its preprocessed text,
comments included, with the flags, the configuration and the version.
"""

import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TESTED_TREE", ROOT / "build/dev/installed")).parent
CLANG_TIDY = pathlib.Path(sys.executable).parent / "clang-tidy"
CONFIGURATION = f"--config-file={ROOT / '.clang-tidy'}"
SHARES = pathlib.Path(__file__).parent / "clang_tidy_shares.txt"
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "memoir" / "clang-tidy"
PRODUCT = ("interpose/", "simcuda/", "tracker/", "tools/")

INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)
WARNING = re.compile(r"^(?P<file>/.+?):(?P<line>\d+):\d+: (?:warning|error): .* \[(?P<check>[\w.,-]+)\]$", re.MULTILINE)

# Functions of libc that concurrency-mt-unsafe refuses and that are safe here.
SAFE = re.compile(
    r"\b(?:"
    r"getenv"  # safe if no thread calls setenv at the same time; Memoir calls setenv only before main
    r"|strerror|strsignal"  # glibc returns a constant text, or a buffer of the thread
    r"|dlerror"  # has a buffer for each thread
    r"|readdir"  # each stream belongs to one thread
    r"|sigprocmask"  # only in Memoir's programs, before they start threads
    r")\("
)


def commands():
    """Source (from the root) to (folder, flags), the first of each."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        for source in sources_of(entry["file"]):
            path = os.path.relpath(source, ROOT)
            if path.startswith(PRODUCT) and path not in found:
                found[path] = entry["directory"], flags(shlex.split(entry["command"])[1:])
    return found


def sources_of(compiled):
    """The sources of one compilation. CMake writes a file that includes those that are compiled together (cmake/compile_together.py)."""
    return INCLUDED.findall(pathlib.Path(compiled).read_text()) if "/Unity/" in compiled else [compiled]


def flags(arguments):
    """The flags that change a file's meaning: without input and output, and without g++'s warnings and precompiled headers, which clang cannot use."""
    kept, rest = [], iter(arguments)
    for argument in rest:
        if argument in ("-o", "-c"):
            next(rest)
        elif argument == "-include":
            header = next(rest)
            kept += [] if "cmake_pch" in header else [argument, header]
        elif not argument.startswith("-W") and argument != "-fpch-preprocess":
            kept.append(argument)
    return kept


def shares():
    """Folders that are an entry of ctest each."""
    return [line for line in SHARES.read_text().splitlines() if line and not line.startswith("#")]


def share_of(path):
    """The longest of the folders that has it."""
    return max((share for share in shares() if path.startswith(f"{share}/")), key=len, default=None)


@functools.cache
def checker():
    """The version of clang-tidy, and its configuration without comments."""
    asked = ([CLANG_TIDY, "--version"], [CLANG_TIDY, CONFIGURATION, "--dump-config", "-"])
    return b"".join(subprocess.run(command, capture_output=True, check=True).stdout for command in asked)


def fingerprint(source, folder, arguments):
    """A hash of everything that the verdict depends on."""
    read = subprocess.run(["c++", "-E", "-P", "-C", *arguments, source], cwd=folder, capture_output=True, check=True).stdout
    parts = (read, checker(), "\0".join(arguments).replace(str(ROOT), "").encode())
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def complaints(source, folder, arguments):
    """clang-tidy's findings in `source` and in our headers that it includes, one line each."""
    done = subprocess.run(
        [CLANG_TIDY, "--quiet", CONFIGURATION, source, "--", *arguments], cwd=folder, capture_output=True, text=True
    )
    found = list(WARNING.finditer(done.stdout))
    if done.returncode != 0 and not found:
        raise RuntimeError(f"clang-tidy ended with {done.returncode}: {done.stdout}{done.stderr}")
    for one in found:
        line = pathlib.Path(one["file"]).read_text().split("\n")[int(one["line"]) - 1]
        if not (one["check"] == "concurrency-mt-unsafe" and SAFE.search(line)):
            yield one[0]


def complaints_of_share(share):
    """The findings in all sources of one folder of clang_tidy_shares.txt; sources that were clean before are skipped."""
    CLEAN.mkdir(parents=True, exist_ok=True)
    for path, (folder, arguments) in commands().items():
        if share_of(path) != share:
            continue
        known = CLEAN / fingerprint(ROOT / path, folder, arguments)
        if known.exists():
            continue
        found = list(complaints(ROOT / path, folder, arguments))
        yield from found
        if not found:
            known.touch()
