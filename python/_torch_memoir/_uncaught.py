"""The error that ends the program, for its capture."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import types

_MOST = 160  # characters of its message
_MOST_FRAMES = 64


def text() -> str:
    """The exception that ends the program, in one line. Reads the last exception that the interpreter printed. "" if there is no exception, or in
    an interactive session, which an exception does not end."""
    kind = getattr(sys, "last_type", None)
    if kind is None or hasattr(sys, "ps1") or sys.flags.interactive:
        return ""
    try:
        said = _summary(str(getattr(sys, "last_value", "")).strip())
        if len(said) > _MOST:
            said = said[:_MOST].rsplit(" ", 1)[0] + " ..."
        return f"{kind.__name__}: {said}" if said else kind.__name__
    except Exception:  # the exception's own __str__ failed
        return str(getattr(kind, "__name__", ""))


def _summary(message: str) -> str:
    """The first line. If torch raised the error of a worker again ("Caught OSError in DataLoader worker process 0."), also the worker's own error: the
    first line that is not indented after the last frame of the worker's traceback."""
    first, *others = message.split("\n")
    frames = [i for i, line in enumerate(others) if line.startswith('  File "')]
    if not frames or "Original Traceback (most recent call last):" not in others:
        return first
    own = next((line for line in others[frames[-1] :] if not line.startswith(" ")), "")
    return f"{first} {own}".rstrip()


def with_traceback() -> str:
    """text(), then the frames of the traceback in the form of memoir_uncaught, innermost first."""
    said = text()
    frames = _frames(getattr(sys, "last_traceback", None)) if said else []
    return said + "".join(f"\n\t{line}\t{file}\t{function}" for line, file, function in reversed(frames))


def _frames(step: types.TracebackType | None) -> list[tuple[int, str, str]]:
    frames = []
    while step is not None:
        code = step.tb_frame.f_code
        frames.append((step.tb_lineno or 0, code.co_filename, getattr(code, "co_qualname", code.co_name)))
        step = step.tb_next
    return frames[-_MOST_FRAMES:]
