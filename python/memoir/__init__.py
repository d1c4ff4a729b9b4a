"""Memoir, a memory profiler for PyTorch: which operator, module and category holds the bytes of a program.

    import memoir
    memoir.start("run1")        # or `memoir run -- python train.py`, with no change to the program
    ...
    memoir.step()               # optional: a training step begins
    memoir.mark("validation")   # optional: a name for this instant
    memoir.pause()              # optional: nothing is recorded until memoir.resume()
    memoir.stop()

    capture = memoir.load("run1")   # tables for pandas, polars and DuckDB, and the answers of all commands: help(memoir.Capture)

`start` records this process until `stop`, or until the interpreter exits. `memoir show run1`, in a shell, shows the result.
`memoir.MemoryTracker` has the methods of torch's class of that name.

The code is in the package `_torch_memoir`: a program may have its own module `memoir` (docs/decisions/0003).

PYTEST_DONT_REWRITE: because of this word, pytest does not try to rewrite the asserts of this package, which torch may have imported before.
"""

from __future__ import annotations

from _torch_memoir import _namesake
from _torch_memoir._controls import flush, pause, resume, snapshot
from _torch_memoir._recording import is_recording, mark, output, output_dir, recording, session, start, step, stop

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from _torch_memoir._memory_tracker import MemoryTracker
    from _torch_memoir.captures._capture import Capture, load
    from _torch_memoir.captures._program import CaptureError
else:
    _LATER = {"Capture": "captures._capture", "CaptureError": "captures._program", "MemoryTracker": "_memory_tracker", "load": "captures._capture"}

    def __getattr__(name):
        if name in _LATER:  # imported when it is used: a program that only calls start() needs none of them
            import importlib

            globals()[name] = getattr(importlib.import_module(f"_torch_memoir.{_LATER[name]}"), name)
            return globals()[name]
        raise AttributeError(f"module 'memoir' has no attribute '{name}'")


__all__ = [
    "Capture", "CaptureError", "MemoryTracker", "flush", "is_recording", "load", "mark", "output", "output_dir", "pause", "recording", "resume", "session", "snapshot", "start", "step",
    "stop"]

_namesake.take_over(__path__[0])  # last, because it may put the program's own module in the place of this package in sys.modules
