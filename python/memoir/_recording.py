"""start, stop, mark, step: thin calls into the tracker's C interface (memoir.h)."""

import atexit
import contextlib
import ctypes
import os
import platform
import sys

from memoir import _library

_STOPPED, _EXITED = 1, 2  # enum memoir_end

_tracker = None  # the loaded library, once a recording was started here
_next_step = 0


def start(output=None, **options):
    """Record this process into the folder `output` (default: ./memoir-DATE-TIME).

    Options are those of `memoir run`, without dashes: max_size="2GiB", ring_dir="/tmp", ring_size="32MiB", rank=3, quiet=True.
    Imports torch when the program has not. Raises RuntimeError with the cause and the fix when recording can't start.
    """
    global _tracker
    import torch

    library = _library.load(torch.__version__)
    if output is not None:
        options["output"] = os.fspath(output)
    options.setdefault("program", os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python")
    options.setdefault("python_version", platform.python_version())
    settings = [f"{name}={_text(value)}".encode() for name, value in options.items()]
    array = (ctypes.c_char_p * (len(settings) + 1))(*settings, None)
    message = ctypes.create_string_buffer(1024)
    if library.memoir_start(array, message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    _tracker = library
    atexit.register(_stop_at_exit)


def stop():
    """End the recording; returns when the capture is complete. Does nothing when none is running."""
    _stop(_STOPPED)


@contextlib.contextmanager
def session(output=None, **options):
    """`with memoir.session("run1"): ...` records what happens inside."""
    start(output, **options)
    try:
        yield
    finally:
        stop()


def mark(name):
    """A named instant in the recording; `memoir show --at mark:NAME` looks at it."""
    if _tracker is not None:
        _tracker.memoir_mark(str(name).encode())


def step(number=None):
    """The start of a training step; without a number, the one after the last (from 0)."""
    global _next_step
    number = _next_step if number is None else int(number)
    _next_step = number + 1
    if _tracker is not None:
        _tracker.memoir_step(number)


def flush():
    """Return when everything recorded so far is on file."""
    if _tracker is not None:
        _tracker.memoir_flush()


def recording():
    """Whether this process records now."""
    return _tracker is not None and _tracker.memoir_recording() == 1


def output():
    """The capture's folder, or None before the first start."""
    return _tracker.memoir_output().decode() if _tracker is not None else None


def _stop(reason):
    if _tracker is None:
        return
    message = ctypes.create_string_buffer(1024)
    if _tracker.memoir_stop(reason, message, len(message)) != 0:
        print(f"memoir: {message.value.decode(errors='replace')}", file=sys.stderr)


def _stop_at_exit():
    _stop(_EXITED)


def _text(value):
    return str(int(value)) if isinstance(value, bool) else str(value)
