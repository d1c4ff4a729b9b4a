"""Memoir, a memory profiler for PyTorch: which operator, module and category holds the bytes of a program.

    import memoir
    memoir.start("run1")        # or `memoir run -- python train.py`, with no change to the program
    ...
    memoir.step()               # optional: a training step begins
    memoir.mark("validation")   # optional: a name for this instant
    memoir.pause()              # optional: nothing is recorded until memoir.resume()
    memoir.stop()

`start` records this process until `stop`, or until the interpreter exits. `memoir show run1`, in a shell, shows what was recorded.
`memoir.MemoryTracker` has the methods of torch's class of that name.
"""

from __future__ import annotations

from memoir._recording import flush, is_recording, mark, output, output_dir, pause, recording, resume, session, start, step, stop

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from memoir._memory_tracker import MemoryTracker
else:

    def __getattr__(name):
        if name == "MemoryTracker":  # not before somebody asks for it: every process that imports torch comes by here
            from memoir._memory_tracker import MemoryTracker

            return MemoryTracker
        raise AttributeError(f"module 'memoir' has no attribute '{name}'")


__all__ = [
    "MemoryTracker", "flush", "is_recording", "mark", "output", "output_dir", "pause", "recording", "resume", "session", "start", "step", "stop"]


def _autoload() -> None:
    """torch calls this at the end of its import (entry point group `torch.backends`)."""
    from memoir import _startup

    _startup.from_torch()
