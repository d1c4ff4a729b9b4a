"""What `memoir.stop()` returns: the capture that has just ended, of which nothing is read before somebody looks at it."""

from __future__ import annotations

from memoir._terminal import say

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from memoir._capture import Capture


def capture_in(folder: str) -> Capture | None:
    """None where modules can't be imported any more, as in a process that is out of descriptors: ending a recording must not end the program."""
    try:
        from memoir._capture import Capture
    except (ImportError, MemoryError, OSError) as problem:
        say(f"memoir: recorded into {folder}; memoir.stop() can't open it in this process: {problem}")
        return None
    return Capture(folder)
