"""The return value of `memoir.stop()`: the capture of the recording that ended. The capture is read when it is first used."""

from __future__ import annotations

from _torch_memoir._terminal import say

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from _torch_memoir.captures._capture import Capture


def capture_in(folder: str) -> Capture | None:
    """Returns the capture. None if modules can't be imported any more, for example without free descriptors: the end of a recording must not end the program."""
    try:
        from _torch_memoir.captures._capture import Capture
    except (ImportError, MemoryError, OSError) as problem:
        say(f"memoir: recorded into {folder}; memoir.stop() can't open it in this process: {problem}")
        return None
    return Capture(folder)
