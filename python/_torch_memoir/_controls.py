"""pause, resume, flush, snapshot: calls by which a program controls its recording. The docstrings are the documentation of `memoir.pause` and so on."""

from __future__ import annotations

import ctypes
import os

from _torch_memoir import _recording
from _torch_memoir._terminal import say


def pause(memory: bool = False) -> None:
    """Stop recording until `resume()`; until then the recording costs next to nothing.

    With memory=True, allocations and deallocations are still recorded and only operators are not, so live blocks stay known.
    Without it, blocks that were live at the pause are unknown after `resume()`. Does nothing if this process is not recorded.
    """
    if (tracker := _recording.tracker()) is not None:
        _say_if_late("pause", tracker.memoir_pause(int(memory)))


def resume() -> None:
    """Record everything again after `pause()`, within the options `steps`, `range` and `schedule`."""
    if (tracker := _recording.tracker()) is not None:
        _say_if_late("resume", tracker.memoir_resume())


def _say_if_late(call: str, result: int) -> None:
    """Prints a line if the switch failed. The writer retries it, so the switch comes later and is not lost."""
    if result != 0 and _recording.is_recording():
        say(f"memoir: memoir.{call}() is late: no memory, or no room in the event ring; it is tried again (a larger ring_size may help)")


def flush() -> None:
    """Write everything recorded so far to disk before returning: `memoir show` can then read it while the program runs."""
    if (tracker := _recording.tracker()) is not None:
        tracker.memoir_flush()


def snapshot(path: _recording.StrOrBytesPath | None = None) -> str | None:
    """Write the live blocks as a small capture, and return its folder. Other threads go on meanwhile.

        folder = memoir.snapshot()          # then, in a shell: memoir FOLDER

    The capture has the live blocks with operator, module and line, the segments, the sums, and the bytes that modules and optimizers hold; every command that
    reads a capture takes it. Without `path` it goes into snapshots/0001, 0002, ... of the recording's folder; ranks of a job that call this together share one
    folder.

    Returns None if this process is not recorded. Raises RuntimeError, whose message names the fix, if the folder can't be written.
    """
    tracker = _recording.tracker()
    if tracker is None or not _recording.is_recording():
        return None
    message = ctypes.create_string_buffer(4096 + 64)
    if tracker.memoir_snapshot(None if path is None else os.fsencode(path), message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    return os.fsdecode(message.value)
