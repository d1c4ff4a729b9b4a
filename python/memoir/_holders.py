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

library: ctypes.PyDLL | None = None  # None: nobody has asked
_source = 0
_optimizer = 0  # whose steps count
_steps = 0
_next = _FIRST
_looked = 0.0  # when the last search ended
_searching = threading.Lock()
_collects = False  # Python's garbage collector is switched off by the search that runs, and was on
_interval = 0.0  # as sys.setswitchinterval had it before that search

_ALONE = 5.0  # seconds for which the search keeps the interpreter: longer than it takes
_MOST_BYTES = 500  # of a holder's name
_MOST_BUCKETS = 4096  # of one model: 100 GiB of gradients as torch divides them


def start(of: ctypes.PyDLL) -> None:
    global library, _source, _optimizer, _steps, _next, _looked
    library, _source, _optimizer, _steps, _next, _looked = of, 0, 0, 0, _FIRST, time.monotonic()


def asked() -> bool:
    return library is not None


def step(source: int, optimizer: int = 0) -> None:
    """A step of the program begins or ends here."""
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
    """In a forked child, which another thread may have made while this one searched: it begins anew."""
    global library, _searching, _collects
    library, _searching = None, threading.Lock()
    if _interval:
        sys.setswitchinterval(_interval)
    if _collects:
        _collects = False
        gc.enable()


def end() -> None:
    """Of the recording, or of the program."""
    global library
    look()
    library = None


def look() -> bool:
    """Search now. The program must not see that, nor what goes wrong. False: the search was not made."""
    global _looked, _collects, _interval
    if library is None or library.memoir_level() == 0 or "torch" not in sys.modules or not _searching.acquire(blocking=False):
        return False
    thread = _unseen.thread()
    _unseen.pause(thread)
    collects, interval = gc.isenabled(), sys.getswitchinterval()
    try:
        _collects, _interval = collects, interval
        gc.disable()  # what the search makes is no reason to collect the program's cycles early
        sys.setswitchinterval(_ALONE)  # no other thread changes what is looked at, nor begins backward
        _look(library, sys.modules["torch"], collects)
    except Exception as error:
        from memoir import _referents

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
    """Without its middle where it is too long for a mark beside addresses."""
    kept = len(holder)
    text = holder
    while len(text.encode("utf-8", "replace")) > _MOST_BYTES:
        kept = kept * 3 // 4
        text = f"{holder[: kept // 2]}…{holder[-(kept // 2) :]}"
    return text


def _look(of: ctypes.PyDLL, torch: Any, collects: bool) -> None:
    import ctypes

    from memoir import _search

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
