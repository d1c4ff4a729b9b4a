"""The rooms of the report's page: which of them may import which, and how large their sources may be."""

import re

from conventions import MAX_COLUMNS, MAX_FOLDER_SOURCES, MAX_ROOM_LINES
from sources import Rule, sources

PAGE = "tools/web/src"
ROOMS = ("drawing", "report", "tables", "charts", "first_glance")  # each may import the rooms before it
IMPORT = re.compile(r"^(?:import|export)\b[^;]*?'\.\./(?:(\w+)/)?[\w.]+';|^import [^;]*?'\./(\w+)/[\w.]+';", re.M)


def page_sources(tree):
    return [source for source in sources(tree) if source.path.startswith(f"{PAGE}/") and source.suffix == ".ts"]


def page_imports_point_one_way(tree):
    """A room of the page imports only the rooms before it in ROOMS. docs/architecture.md lists them."""
    for source in page_sources(tree):
        room = source.folder.removeprefix(PAGE).lstrip("/")
        if room == "":
            continue  # main.ts, which makes the views
        if room not in ROOMS:
            yield f"{source.path}: {room} is not a room of the page"
            continue
        for match in IMPORT.finditer(source.text):
            other = match.group(1) or match.group(2) or "main"
            if other not in ROOMS[: ROOMS.index(room)]:
                yield f"{source.path}: {room} may not import {other}"


def page_sources_are_small(tree):
    """Sources of the page keep to the limits of C++ sources."""
    folders = {}
    for source in page_sources(tree):
        folders[source.folder] = folders.get(source.folder, 0) + 1
        if len(source.lines) - 1 > MAX_ROOM_LINES:
            yield f"{source.path}: {len(source.lines) - 1} lines, more than {MAX_ROOM_LINES}"
        for number, line in enumerate(source.lines, 1):
            if len(line) > MAX_COLUMNS and not re.match(r"(import|export) ", line):
                yield f"{source.path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
    yield from (f"{folder}: {count} sources, more than {MAX_FOLDER_SOURCES}" for folder, count in folders.items() if count > MAX_FOLDER_SOURCES)


RULES = (
    Rule(
        page_imports_point_one_way,
        (
            {f"{PAGE}/drawing/x.ts": "import {App} from '../report/app';\n"},
            {f"{PAGE}/report/x.ts": "import {\n  App,\n} from '../charts/app';\n"},
            {f"{PAGE}/tables/x.ts": "import {main} from '../main';\n"},
            {f"{PAGE}/more/x.ts": ""},
        ),
    ),
    Rule(
        page_sources_are_small,
        (
            {f"{PAGE}/report/x.ts": "\n" * 401},
            {f"{PAGE}/report/x.ts": "x" * 121 + "\n"},
            {f"{PAGE}/report/x{i}.ts": "" for i in range(26)},
        ),
    ),
)
