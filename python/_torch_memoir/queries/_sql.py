"""A query's text, and the tables and views that it uses."""

from __future__ import annotations

import dataclasses
import os
import re

TABLES = ("ranks", "modules", "steps", "operators", "blocks", "events", "calls", "summary")


class QueryError(Exception):
    """A query cannot be read. The message names the file, and why."""


@dataclasses.dataclass(frozen=True)
class Query:
    text: str
    views: list[str]  # statements to run before it, dependencies first
    tables: list[str]  # tables that it uses, and always `ranks`, which lists the processes


def read(path: str, views: str) -> Query:
    """Reads the query in the file `path`, and the views that it uses from the folder `views`."""
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
    """One statement, without the semicolon at its end, which some engines reject."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip().rstrip(";")
    except (OSError, UnicodeDecodeError) as problem:
        raise QueryError(f"cannot read {path}: {getattr(problem, 'strerror', None) or 'it is not UTF-8'}") from None


def _words(text: str) -> list[str]:
    """Words that may name tables, in the order of their first use."""
    plain = re.sub(r"--[^\n]*|'(?:[^']|'')*'", " ", text)
    return list(dict.fromkeys(re.findall(r"[a-z_]+", plain.lower())))
