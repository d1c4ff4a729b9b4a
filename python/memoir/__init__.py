"""Memoir: who holds the bytes of a PyTorch program.

    import memoir
    memoir.start("run1")        # or: memoir run -- python train.py, with no change to the program
    ...
    memoir.step()               # optional: where a training step begins
    memoir.mark("validation")   # optional: a named instant
    memoir.pause()              # optional: nothing is recorded until memoir.resume()
    memoir.stop()

`start` records this process until `stop`, or until the interpreter exits. Nothing here computes anything about memory:
`memoir show run1` does.
"""

from memoir._recording import flush, mark, output, pause, recording, resume, session, start, step, stop

__all__ = ["flush", "mark", "output", "pause", "recording", "resume", "session", "start", "step", "stop"]


def _autoload():
    """torch calls this at the end of its import (entry point group `torch.backends`)."""
    from memoir import _startup

    _startup.from_torch()
