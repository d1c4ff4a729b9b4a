"""Who holds the tensors of this process, looked for between its steps and at its end where `--holders` asks for it (_search.py).

    steps   0 ··· 6 ····· 12 ··········· 24 ························ 48 ···   end
                  ▲        ▲              ▲                          ▲         ▲      and an hour after the last

A step ends where memoir.step() is called; in a program that does not, where its first optimizer has stepped. A program without either is
searched at its end alone. Never inside a step: the program waits for the search, whose processor time is bounded (_search.py).
"""

from __future__ import annotations

import gc
import sys
import threading
import time

from memoir import _unseen

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import ctypes
    from typing import Any

_FIRST = 6  # steps: with fewer, nothing is taken for a leak
_HOUR = 3600.0

STEP, OPTIMIZER = 2, 1  # what counts as a step, the better one higher

_library: ctypes.PyDLL | None = None
_source = 0
_optimizer = 0  # whose steps count
_steps = 0
_next = _FIRST
_looked = 0.0  # when the last search ended
_searching = threading.Lock()


def start(library: ctypes.PyDLL) -> None:
    global _library, _source, _optimizer, _steps, _next, _looked
    _library, _source, _optimizer, _steps, _next, _looked = library, 0, 0, 0, _FIRST, time.monotonic()


def asked() -> bool:
    return _library is not None


def step(source: int, optimizer: int = 0) -> None:
    """A step of the program begins or ends here."""
    global _source, _optimizer, _steps, _next
    if _library is None or source < _source:
        return
    if source > _source:
        _source, _optimizer, _steps, _next = source, optimizer, 0, _FIRST
    if optimizer != _optimizer:
        return
    _steps += 1
    if _steps >= _next or time.monotonic() - _looked > _HOUR:
        _next = max(_next, 2 * _steps if _steps >= _next else _next)
        look()


def end() -> None:
    """Of the recording, or of the program."""
    global _library
    look()
    _library = None


def look() -> None:
    """Search now. The program must not see that, nor what goes wrong."""
    global _looked
    if _library is None or _library.memoir_level() == 0 or "torch" not in sys.modules or not _searching.acquire(blocking=False):
        return
    thread = _unseen.thread()
    _unseen.pause(thread)
    collects = gc.isenabled()
    gc.disable()  # what the search makes is no reason to collect the program's cycles early
    try:
        _look(_library, sys.modules["torch"], collects)
    except Exception:
        pass
    finally:
        if collects:
            gc.enable()
        _unseen.resume(thread)
        _searching.release()
        _looked = time.monotonic()


def _look(library: ctypes.PyDLL, torch: Any, collects: bool) -> None:
    from memoir import _search

    def record(addresses: str, holder: str) -> None:
        library.memoir_mark(f"memoir.held_by {addresses} {holder}".encode("utf-8", "replace"))

    search = _search.Search(torch, collects)
    try:
        with torch._C.DisableTorchFunction():
            search.run(record, library.memoir_python_saved)
    finally:
        search.close()
