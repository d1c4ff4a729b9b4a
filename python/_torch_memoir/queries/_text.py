"""Rows as a table for people: bytes and times with units, at most as wide as the terminal."""

from __future__ import annotations

import shutil
from typing import Any

_LEAST_NAME = 12  # least width of a shortened name, in characters
_OF_CATEGORIES = ("category", "most_in")


def table(columns: list[str], rows: list[dict[str, Any]], top: int) -> str:
    """Returns a text of at most `top` rows; 0: all rows. Columns that do not fit are left out from the right, and the last line names them."""
    if not rows:
        return "no rows\n"
    shown = rows[:top] if top else rows
    cells = [[_cell(name, row[name]) for row in shown] for name in columns]
    titles = [name.removesuffix("_bytes").removesuffix("_ns").replace("_", " ") for name in columns]
    is_text = [any(isinstance(row[name], str) for row in shown) for name in columns]
    widths = [max(len(title), *map(len, column)) for title, column in zip(titles, cells, strict=True)]
    room = _room()
    kept = len(columns)
    while kept > 1 and _least(widths[:kept], is_text) > room:
        kept -= 1
    _cut_names(widths, is_text, kept, room)
    lines = [[_padded(title, width, left) for title, width, left in zip(titles[:kept], widths, is_text, strict=False)]]
    for place in range(len(shown)):
        lines.append([_padded(cells[column][place], widths[column], is_text[column]) for column in range(kept)])
    text = "".join("  ".join(line).rstrip() + "\n" for line in lines)
    if len(shown) < len(rows):
        text += f"... and {len(rows) - len(shown):,} more rows: --top 0\n"
    if kept < len(columns):
        text += f"also: {', '.join(columns[kept:])}: --json\n"
    return text


def escaped(text: str) -> str:
    """Escapes control characters and characters that reorder text: names come from programs that are not trusted."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def _room() -> int:
    return shutil.get_terminal_size((80, 24)).columns  # the value of $COLUMNS if it is set, else the width of the terminal


def _least(widths: list[int], is_text: list[bool]) -> int:
    return sum(min(width, _LEAST_NAME) if text else width for width, text in zip(widths, is_text, strict=False)) + 2 * (len(widths) - 1)


def _cut_names(widths: list[int], is_text: list[bool], kept: int, room: int) -> None:
    while sum(widths[:kept]) + 2 * (kept - 1) > room:
        widest = max((place for place in range(kept) if is_text[place]), key=lambda place: widths[place], default=None)
        if widest is None or widths[widest] <= _LEAST_NAME:
            return
        widths[widest] -= 1


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        # The tables contain OPTIMIZER_STATE. The text has "optimizer state", as in memoir show.
        return escaped(value.replace("_", " ").lower() if name in _OF_CATEGORIES else value) or "-"
    if name == "bytes" or name.endswith("_bytes"):
        return _bytes(value)
    if name.endswith("_ns"):
        return f"{value / 1e6:,.3f} ms"
    if name.startswith("part_of_"):
        return f"{100 * value:.1f} %"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value}" if name in ("rank", "step", "line", "role", "process") else f"{value:,}"


def _bytes(value: float) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= size:
            return f"{value / size:,.2f} {unit}"
    return f"{value:,.0f} B"


def _padded(text: str, width: int, left: bool) -> str:
    if len(text) > width:
        half = (width - 1) // 2
        text = f"{text[: width - 1 - half]}…{text[len(text) - half :]}" if half else text[:width]
    return text.ljust(width) if left else text.rjust(width)
