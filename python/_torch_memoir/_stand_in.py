"""Makes a function that stands in for one of torch's: tracebacks, trace functions and torch's compiler see torch's name, file and lines."""

from __future__ import annotations

import ast

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FunctionType
    from typing import Any

    Body = Sequence[tuple[int, str]]  # lines of source, each with the index in lines_of() of the line of torch's function that it stands for


def lines_of(function: Any) -> list[int]:
    """Returns the numbers of the lines of the function's code, the line of its `def` first."""
    code: CodeType = function.__code__
    return [code.co_firstlineno, *sorted({line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno})]


def make(body: Body, function: Any, names: dict[str, Any]) -> FunctionType:
    """Returns the function whose source is `body`, which finds its globals in `names`."""
    code: CodeType = function.__code__
    lines = lines_of(function)
    columns = {line: _columns(code, line) for line in lines}
    tree = ast.parse("\n".join(text for _, text in body))
    node: Any  # one of the classes with a position
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = lines[body[node.lineno - 1][0]]
            node.col_offset, node.end_col_offset = columns[node.lineno]
    space: dict[str, FunctionType] = {}
    exec(compile(tree, code.co_filename, "exec", dont_inherit=True), names, space)
    (made,) = space.values()
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _columns(code: CodeType, line: int) -> tuple[int, int]:
    """Returns the columns of the call in this line, so that tracebacks underline the same text as without Memoir (Python 3.11 and later)."""
    places = {(first, last) for at, _, first, last in getattr(code, "co_positions", list)() if at == line and first is not None}
    calls = places - {min(places, default=None)}  # without the leftmost, such as a whole `return` statement
    return max(calls, key=lambda place: place[1] - place[0], default=(0, 0))
