"""Memoir: who holds the bytes of a PyTorch program.

    import memoir
    memoir.start("run1")        # or: memoir run -- python train.py, with no change to the program
    ...
    memoir.step()               # optional: where a training step begins
    memoir.mark("validation")   # optional: a named instant
    memoir.pause()              # optional: nothing is recorded until memoir.resume()
    memoir.stop()

`memoir.MemoryTracker` stands in for torch's class of that name. `start` records this process until `stop`, or until the interpreter exits. Nothing here computes anything about memory:
`memoir show run1` does.
"""

from memoir._recording import flush, mark, output, pause, recording, resume, session, start, step, stop

__all__ = ["MemoryTracker", "flush", "mark", "output", "pause", "recording", "resume", "session", "start", "step", "stop"]


def __getattr__(name):
    if name == "MemoryTracker":  # not before somebody asks for it: every process that imports torch comes by here
        from memoir._memory_tracker import MemoryTracker

        return MemoryTracker
    raise AttributeError(f"module 'memoir' has no attribute '{name}'")


def _autoload():
    """torch calls this at the end of its import (entry point group `torch.backends`)."""
    from memoir import _startup

    _startup.from_torch()
