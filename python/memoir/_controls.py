"""pause, resume, flush, snapshot: what a program does to its running recording. The docstrings here are those of `memoir.pause` and so on."""

from __future__ import annotations

import ctypes
import os

from memoir import _recording
from memoir._terminal import say


def pause(memory: bool = False) -> None:
    """Stop recording until `resume()`; until then the recording costs next to nothing.

    With memory=True allocations and deallocations are still recorded, and only operators are not: what is live stays known.
    Without, blocks that were live at the pause are unknown after `resume()`. Does nothing where this process is not recorded.
    """
    if (tracker := _recording.tracker()) is not None:
        _say_if_late("pause", tracker.memoir_pause(int(memory)))


def resume() -> None:
    """Record everything again after `pause()`, as far as the options `steps`, `range` or `schedule` ask for it."""
    if (tracker := _recording.tracker()) is not None:
        _say_if_late("resume", tracker.memoir_resume())


def _say_if_late(call: str, result: int) -> None:
    """The writer tries a switch that failed again by itself: it is late, and not lost."""
    if result != 0 and _recording.is_recording():
        say(f"memoir: memoir.{call}() is late: no memory, or no room in the event ring; it is tried again (a larger ring_size may help)")


def flush() -> None:
    """Write out what is recorded so far, and return when it is on file: `memoir show` can then read it while the program runs."""
    if (tracker := _recording.tracker()) is not None:
        tracker.memoir_flush()


def snapshot(path: _recording.StrOrBytesPath | None = None) -> str | None:
    """Write what is live now as a small capture of its own, and return its folder; other threads go on meanwhile.

        folder = memoir.snapshot()          # then, in a shell: memoir FOLDER

    It has the live blocks with operator, module and line, segments, sums, and what modules and optimizers hold; every command that reads a capture
    takes it. Without `path` it goes into snapshots/0001, 0002, ... of the recording's folder, where the ranks of a job that call this together share one.

    None where this process is not recorded. Raises RuntimeError, which says what to do, where the folder can't be written.
    """
    tracker = _recording.tracker()
    if tracker is None or not _recording.is_recording():
        return None
    message = ctypes.create_string_buffer(4096 + 64)
    if tracker.memoir_snapshot(None if path is None else os.fsencode(path), message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    return os.fsdecode(message.value)
