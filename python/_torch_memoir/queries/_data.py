"""Finds the files of a folder that `memoir export parquet` wrote: the version of its tables, its ranks, and which files are complete.

If a file of a rank is missing or cut, the rank's other files are not used either, so that its tables agree; a message names the rank.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MANIFEST = "_memoir.json"
VERSION = 1  # of the tables that the queries know (tools/view/database/capture_columns.h)
_PARTITIONED = ("modules", "steps", "operators", "blocks", "events", "calls")
_MAGIC = b"PAR1"


class DataError(Exception):
    """The data cannot be used. The message says why, and names the fix."""


@dataclasses.dataclass
class Tables:
    files: dict[str, list[str]]
    is_partitioned: bool = False
    missing_ranks: list[int] = dataclasses.field(default_factory=list)  # ranks of the job that were not recorded
    left_out_ranks: list[int] = dataclasses.field(default_factory=list)  # ranks with missing or damaged files
    remarks: list[str] = dataclasses.field(default_factory=list)


def folder_of(data: str, tables: list[str], program: str, scratch: str, say: Callable[[str], None]) -> str:
    """Returns `data` if it contains tables. For a capture, writes its tables into `scratch`, and returns their folder."""
    if "://" in data or os.path.exists(os.path.join(data, MANIFEST)) or _holds_tables(data):
        return data
    folder = os.path.join(scratch, "tables", "")
    os.mkdir(folder)
    path = os.path.join(".", data) if data.startswith("-") else data
    command = [program, "export", "parquet", "--tables", ",".join(tables), path, "-o", folder]
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = [line.removeprefix("memoir: ") for line in done.stderr.decode("utf-8", "replace").splitlines()]
    if done.returncode != 0:
        raise DataError("\n".join(said) or f"memoir export parquet {data} ended with exit code {done.returncode}")
    for line in said:
        say(line)
    return folder


def _holds_tables(folder: str) -> bool:
    """Whether the folder has tables and no capture: exported by an earlier Memoir, or by hand."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    tables = {"ranks.parquet", "blocks.parquet", "events.parquet", "summary.parquet", "ranks", "blocks"}
    return not any(name.endswith(".memoir") for name in names) and bool(tables & set(names))


def find(folder: str, tables: list[str], read_text: Callable[[str], str]) -> Tables:
    """The files of these tables."""
    manifest = _manifest(folder, read_text)
    ranks = manifest.get("ranks")
    lacking = [name for name in tables if name not in (ranks[0] if ranks and name in _PARTITIONED else manifest)["files"]]
    if lacking and ranks != []:
        raise DataError(f"{folder}: the table {lacking[0]} is not there; export all tables (without --tables)")
    if ranks is None:
        files = {name: [_join(folder, f"{name}.parquet")] for name in tables}
        for name in tables:
            if wrong := _wrong(files[name][0], manifest["files"][name]):
                raise DataError(f"{wrong}; export it again")
        return Tables(files)
    return _of_ranks(folder, tables, manifest)


def _of_ranks(folder: str, tables: list[str], manifest: dict[str, Any]) -> Tables:
    found = Tables({name: [] for name in tables}, is_partitioned=True, missing_ranks=manifest.get("missing_ranks", []))
    for name in tables:
        if name not in _PARTITIONED:
            file = _join(folder, f"{name}/{name}.parquet")
            if wrong := _wrong(file, manifest["files"][name]):
                raise DataError(f"{wrong}; export it again")
            found.files[name] = [file]
    for one in manifest["ranks"]:
        files = {name: _join(folder, f"{name}/rank={one['rank']}/{name}.parquet") for name in tables if name in _PARTITIONED}
        problems = [why for name, file in files.items() if (why := _wrong(file, one["files"].get(name, -1)))]
        if problems:
            found.left_out_ranks.append(one["rank"])
            found.remarks.append(f"{problems[0]}: rank {one['rank']} is left out")
        else:
            for name, file in files.items():
                found.files[name].append(file)
    if found.missing_ranks:
        found.remarks.append(f"not recorded: {_list(found.missing_ranks)}")
    if any(not files for files in found.files.values()):
        raise DataError("\n".join([*found.remarks[:3], f"{folder}: no rank is whole; export it again"]))
    return found


def _manifest(folder: str, read_text: Callable[[str], str]) -> dict[str, Any]:
    path = _join(folder, MANIFEST)
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise DataError(f"{folder} has no {MANIFEST}: it was not written by `memoir export parquet` of this version, or not as a folder; export it again") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"cannot read {path}: {getattr(problem, 'strerror', None) or 'it is not UTF-8'}") from None
    try:
        manifest = json.loads(text)
        version = manifest["version"]
        if manifest["format"] != "memoir tables" or not isinstance(version, int):
            raise ValueError
        if version == VERSION:
            _check(manifest)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(f"{path} is damaged, or of another program; export it again") from None
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise DataError(f"{folder} was written by {age} Memoir (tables of version {version}, these queries know {VERSION}); export it again, or query it with that one")
    return manifest  # type: ignore[no-any-return]  # json.loads returns Any


def _check(manifest: dict[str, Any]) -> None:
    """Raises if the manifest is malformed."""
    ranks = manifest.get("ranks")
    for one in [manifest, *(ranks or [])]:
        if not all(isinstance(size, int) for size in one["files"].values()):
            raise ValueError
    if ranks is not None and not all(isinstance(one["rank"], int) for one in ranks):
        raise ValueError
    if not all(isinstance(rank, int) for rank in manifest.get("missing_ranks") or []):
        raise ValueError


def _wrong(path: str, size: int) -> str:
    """The defect of a file that should have this many bytes, or ""."""
    if "://" in path:
        return ""  # the engine reports it when it reads the file
    try:
        with open(path, "rb") as file:
            begin, there = file.read(4), os.fstat(file.fileno()).st_size
            file.seek(max(0, there - 4))
            end = file.read(4)
    except FileNotFoundError:
        return f"{path} is missing"
    except OSError as problem:
        return f"cannot read {path}: {problem.strerror}"
    if there != size:
        return f"{path} is damaged: it has {there:,} bytes of {size:,}"
    return "" if begin == end == _MAGIC else f"{path} is damaged"


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/') or '/'}/{name}"


def _list(ranks: list[int]) -> str:
    """ "ranks 0-3, 6", as tools/model/job.h writes them."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and spans[-1][1] == rank - 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    words = ", ".join(f"{first}-{last}" if first != last else str(first) for first, last in spans)
    return f"rank {words}" if len(ranks) == 1 else f"ranks {words}"
