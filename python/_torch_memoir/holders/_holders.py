"""Searches for the holders of this process's tensors between its steps and at its end, if `--holders` is given (_search.py).

    steps   0 ··· 6 ····· 12 ··········· 24 ························ 48 ···   end
                  ▲        ▲              ▲                          ▲         ▲      and at a step that ends an hour after the last search

A step ends at memoir.step(), or, in a program that does not call it, when its first optimizer has stepped. A program with neither is searched only at its end.
A search never runs inside a step. The program waits for the search, whose processor time is bounded (_search.py).
"""

from __future__ import annotations

import gc
import sys
import threading
import time

from _torch_memoir import _unseen

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import ctypes
    from typing import Any

_FIRST = 6  # steps; with fewer, no leak is reported
_HOUR = 3600.0

STEP, OPTIMIZER = 2, 1  # sources of steps; the source with the higher number is used

library: ctypes.PyDLL | None = None  # None: --holders was not given
_source = 0
_optimizer = 0  # the optimizer that counts steps
_steps = 0
_next = _FIRST
_looked = 0.0  # when the last search ended
_searching = threading.Lock()
_collects = False  # the running search has switched Python's garbage collector off
_interval = 0.0  # sys.getswitchinterval() before the search

_ALONE = 5.0  # seconds for which other threads wait: longer than a search takes
_MOST_BYTES = 500  # of a holder's name
_MOST_BUCKETS = 4096  # buckets of one model, enough for 100 GiB of gradients as torch divides them


def start(of: ctypes.PyDLL) -> None:
    global library, _source, _optimizer, _steps, _next, _looked
    from _torch_memoir.holders import _search  # noqa: F401  # an import opens files; at the first search, another thread may be closing all descriptors

    library, _source, _optimizer, _steps, _next, _looked = of, 0, 0, 0, _FIRST, time.monotonic()


def is_requested() -> bool:
    return library is not None


def step(source: int, optimizer: int = 0) -> None:
    """Counts a step of the program, and searches if a search is due. Called between two steps."""
    global _source, _optimizer, _steps, _next
    if library is None or source < _source:
        return
    if source > _source:
        _source, _optimizer, _steps, _next = source, optimizer, 0, _FIRST
    if optimizer != _optimizer:
        return
    _steps += 1
    if (_steps >= _next or time.monotonic() - _looked > _HOUR) and look() and _steps >= _next:
        _next = 2 * _steps


def forked() -> None:
    """Resets the state in a forked child: another thread may have forked during a search."""
    global library, _searching, _collects
    library, _searching = None, threading.Lock()
    if _interval:
        sys.setswitchinterval(_interval)
    if _collects:
        _collects = False
        gc.enable()


def end() -> None:
    """Searches for the last time, before the recording or the program ends."""
    global library
    look()
    library = None


def look() -> bool:
    """Searches now. The program notices neither the search nor an error in it. Returns false if no search was made."""
    global _looked, _collects, _interval
    if library is None or library.memoir_level() == 0 or "torch" not in sys.modules or not _searching.acquire(blocking=False):
        return False
    thread = _unseen.thread()
    _unseen.pause(thread)
    collects, interval = gc.isenabled(), sys.getswitchinterval()
    try:
        _collects, _interval = collects, interval
        gc.disable()  # the search's objects must not trigger a collection of the program's cycles
        sys.setswitchinterval(_ALONE)  # no other thread runs meanwhile, so nothing changes and no backward begins
        _look(library, sys.modules["torch"], collects)
    except Exception as error:
        from _torch_memoir.holders import _referents

        _referents.pass_on(error)
    finally:
        sys.setswitchinterval(interval)
        if collects:
            gc.enable()
        _collects, _interval = False, 0.0
        _unseen.resume(thread)
        _searching.release()
        _looked = time.monotonic()
    return True


def _cut(holder: str) -> str:
    """The name without its middle, if it is too long for a mark with addresses."""
    kept = len(holder)
    text = holder
    while len(text.encode("utf-8", "replace")) > _MOST_BYTES:
        kept = kept * 3 // 4
        text = f"{holder[: kept // 2]}…{holder[-(kept // 2) :]}"
    return text


def _look(of: ctypes.PyDLL, torch: Any, collects: bool) -> None:
    import ctypes

    from _torch_memoir.holders import _search

    def record(addresses: str, holder: str) -> None:
        of.memoir_mark(f"memoir.held_by {addresses} {_cut(holder)}".encode("utf-8", "replace"))

    def buckets(reducer: int) -> list[int]:
        addresses = (ctypes.c_uint64 * _MOST_BUCKETS)()
        return addresses[: of.memoir_python_buckets(reducer, addresses, _MOST_BUCKETS)]

    search = _search.Search(torch, collects)
    try:
        with torch._C.DisableTorchFunction():
            search.run(record, of.memoir_python_saved, buckets)
    finally:
        search.close()
