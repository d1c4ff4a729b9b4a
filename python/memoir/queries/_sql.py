"""A query's text, and which tables and views it needs."""

from __future__ import annotations

import dataclasses
import os
import re

TABLES = ("ranks", "modules", "steps", "operators", "blocks", "events", "calls", "summary")


class Unreadable(Exception):
    """The message says which file, and why."""


@dataclasses.dataclass(frozen=True)
class Query:
    text: str
    views: list[str]  # statements that come before, those that others need first
    tables: list[str]  # `ranks` always: it says which there are


def read(path: str, views: str) -> Query:
    """The query in the file `path`, with what it needs of the files in the folder `views`."""
    text, found, wanted = _statement(path), {}, {"ranks"}
    left = [text]
    while left:
        for word in _words(left.pop()):
            if word in TABLES:
                wanted.add(word)
            file = os.path.join(views, f"{word}.sql")
            if word not in found and os.path.exists(file):
                found[word] = _statement(file)
                left.append(found[word])
    return Query(text, list(reversed(found.values())), [name for name in TABLES if name in wanted])


def _statement(path: str) -> str:
    """One statement, without the semicolon at its end, which not all engines take."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip().rstrip(";")
    except (OSError, UnicodeDecodeError) as problem:
        raise Unreadable(f"cannot read {path}: {getattr(problem, 'strerror', None) or 'it is not UTF-8'}") from None


def _words(text: str) -> list[str]:
    """Names that may be of tables, in the order in which they first stand in the text."""
    plain = re.sub(r"--[^\n]*|'(?:[^']|'')*'", " ", text)
    return list(dict.fromkeys(re.findall(r"[a-z_]+", plain.lower())))
