"""The code of the package `memoir`, under a name that no module of a program has: torch and pytest load their entry points from here.

PYTEST_DONT_REWRITE: because of this word, pytest does not try to rewrite the asserts of this package, which torch may have imported before.
"""

from __future__ import annotations

_loaded = False


def _autoload() -> None:
    """Called by torch at the end of its import (entry point group `torch.backends`), once for each installation of Memoir."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    from _torch_memoir import _unseen

    thread = _unseen.thread()
    _unseen.pause(thread)
    try:
        from _torch_memoir import _startup

        _startup.from_torch()
    finally:
        _unseen.resume(thread)
