"""How the program ends, as its capture has it."""

from __future__ import annotations

import sys

_MOST = 160  # letters of its message


def text() -> str:
    """The exception that ends the program, in one line; "": none. The interpreter keeps the one that it printed last; one at a prompt ended nothing."""
    kind = getattr(sys, "last_type", None)
    if kind is None or hasattr(sys, "ps1") or sys.flags.interactive:
        return ""
    try:
        said = str(getattr(sys, "last_value", "")).strip().partition("\n")[0]
        if len(said) > _MOST:
            said = said[:_MOST].rsplit(" ", 1)[0] + " ..."
        return f"{kind.__name__}: {said}" if said else kind.__name__
    except Exception:  # of a __str__ of its own
        return str(getattr(kind, "__name__", ""))
