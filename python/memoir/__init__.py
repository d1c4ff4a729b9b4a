"""Memoir, a memory profiler for PyTorch: which operator, module and category holds the bytes of a program.

    import memoir
    memoir.start("run1")        # or `memoir run -- python train.py`, with no change to the program
    ...
    memoir.step()               # optional: a training step begins
    memoir.mark("validation")   # optional: a name for this instant
    memoir.pause()              # optional: nothing is recorded until memoir.resume()
    memoir.stop()

    capture = memoir.load("run1")   # tables for pandas, polars and DuckDB, and what the program says of it: help(memoir.Capture)

`start` records this process until `stop`, or until the interpreter exits. `memoir show run1`, in a shell, shows what was recorded.
`memoir.MemoryTracker` has the methods of torch's class of that name.

PYTEST_DONT_REWRITE: by this word pytest, which the package has a plug-in for, leaves the package as it is where torch has imported it before.
"""

from __future__ import annotations

from memoir._controls import flush, pause, resume, snapshot
from memoir._recording import is_recording, mark, output, output_dir, recording, session, start, step, stop

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from memoir._capture import Capture, load
    from memoir._memory_tracker import MemoryTracker
    from memoir._program import CaptureError
else:
    _LATER = {"Capture": "_capture", "CaptureError": "_program", "MemoryTracker": "_memory_tracker", "load": "_capture"}

    def __getattr__(name):
        if name in _LATER:  # not before somebody asks for it: every process that imports torch comes by here
            import importlib

            globals()[name] = getattr(importlib.import_module(f"memoir.{_LATER[name]}"), name)
            return globals()[name]
        raise AttributeError(f"module 'memoir' has no attribute '{name}'")


__all__ = [
    "Capture", "CaptureError", "MemoryTracker", "flush", "is_recording", "load", "mark", "output", "output_dir", "pause", "recording", "resume", "session", "snapshot", "start", "step",
    "stop"]


def _autoload() -> None:
    """torch calls this at the end of its import (entry point group `torch.backends`)."""
    from memoir import _startup

    _startup.from_torch()
