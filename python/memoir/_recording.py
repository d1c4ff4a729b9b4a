"""start, stop, mark, step: thin calls into the tracker's C interface (memoir.h)."""

import atexit
import contextlib
import ctypes
import os
import platform
import sys

from memoir import _compiler, _dispatch, _library, _modules, _processes
from memoir._terminal import say

_STOPPED, _EXITED = 1, 2  # enum memoir_end

_tracker = None  # the loaded library, once a recording was started here
_by_environment = False  # the running recording is `memoir run`'s
_operators = "ranges"  # which operators the recording that was started last has: ranges or dispatch
_passed_over = 0  # starts inside of that, whose stops are passed over too
_next_step = 0
_follows_cuda = False  # torch will tell, or has told


def start(output=None, **options):
    """Record this process into the folder `output` (default: ./memoir-DATE-TIME).

    Options are those of `memoir run`, without dashes: max_size="2GiB", ring_dir="/tmp", ring_size="32MiB", rank=3, quiet=True.
    Imports torch when the program has not. Raises RuntimeError with the cause and the fix when recording can't start. Under
    `memoir run`, which records already, it says so in one line and leaves it at that, and so does the stop that belongs to it.
    """
    global _by_environment, _passed_over
    import torch  # under `memoir run`, this starts that recording

    if _by_environment and recording():
        _passed_over += 1
        if _processes.speaks():
            say(f"memoir: memoir.start() passed over: this process is being recorded already, into {_folder()}")
        return
    quiet = options.get("quiet", False) or not _processes.speaks()
    if output is not None and not quiet and any(name.endswith(b".memoir") for name in _names(os.fsencode(output))):
        say(f"memoir: {os.fsdecode(output)} already holds a capture; this recording is added to it")
    _begin(torch.__version__, output, options)
    _by_environment, _passed_over = False, 0


def start_by_environment(torch_version):
    """What `memoir run` asks for, at the end of torch's import."""
    global _by_environment
    if recording():
        return
    _begin(torch_version, None, {"automatic": True})
    _by_environment = True
    if not os.environ.get("MEMOIR_OUTPUT"):  # nobody chose a folder: those that this process starts record into its own, too
        os.environ["MEMOIR_OUTPUT"] = _folder()


def watch_by_environment(torch_version):
    """The same in a process that may never train: it is recorded once it does."""
    global _by_environment
    _call(_library.load(torch_version), "memoir_watch", {"automatic": True})
    _by_environment = True


def _forked():
    """In a forked child: what its parent recorded is none of its concern, and it records once it trains."""
    global _by_environment, _passed_over
    if _tracker is not None:
        _by_environment, _passed_over = True, 0
        _modules.forked()
        _tracker.memoir_forked()


def _begin_waiting():
    """Of a process that was to wait until it trains: it does."""
    if _tracker is not None:
        message = ctypes.create_string_buffer(1024)
        if _tracker.memoir_begin(message, len(message)) != 0:
            raise RuntimeError(message.value.decode(errors="replace"))
        _record_modules()


def _leave():
    """Of a process that was to wait until it trains: it never does."""
    if _tracker is not None:
        _tracker.memoir_leave()


def _name_rank(rank, world_size):
    """The job's process group is there, which only a process has that trains."""
    _processes.guarded(_begin_waiting)
    if _tracker is not None:
        _tracker.memoir_rank(rank, world_size)


def stop():
    """End the recording; returns when the capture is complete. Does nothing when none is running."""
    global _passed_over
    if _passed_over > 0 and recording():
        _passed_over -= 1
    else:
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
        _tracker.memoir_mark(str(name).encode("utf-8", "replace"))


def step(number=None):
    """The start of a training step; without a number, the one after the last (from 0)."""
    global _next_step
    number = _next_step if number is None else int(number)
    if not 0 <= number < 2**64:
        raise ValueError(f"memoir.step({number}): steps are counted from 0")
    _next_step = number + 1
    if _tracker is not None:
        _tracker.memoir_step(number)
        _record_modules()


def pause(memory=False):
    """Switch the recording off until `resume`; a hook then costs next to nothing.

    With memory=True allocations and deallocations are recorded on, and only operators are not: what is live stays known.
    Without, blocks from before the resume are not followed any more. Does nothing when this process is not recorded.
    """
    if _tracker is not None:
        _tracker.memoir_pause(int(memory))


def resume():
    """Record everything again (inside the window, where the recording has one)."""
    if _tracker is not None:
        _tracker.memoir_resume()


def flush():
    """Return when everything recorded so far is on file."""
    if _tracker is not None:
        _tracker.memoir_flush()


def recording():
    """Whether this process is being recorded; also while that is paused."""
    return _tracker is not None and _tracker.memoir_recording() == 1


def operators():
    """Which operators the recording has that was asked for last: "ranges" or "dispatch"."""
    return _operators


def marker():
    """The function of the library that is behind `mark`, for who calls it often: takes bytes."""
    return _tracker.memoir_mark


def output():
    """The capture's folder, or None before the first start."""
    return None if _tracker is None else _folder()


def _begin(torch_version, output, options):
    library = _library.load(torch_version)
    if output is not None:
        options["output"] = os.fsdecode(output)
    _call(library, "memoir_start", options)
    if _modules.asked() and library.memoir_recording_modules() != 1:
        _modules.stop()  # in a forked child, whose parent's recording sees them
    _record_modules()


def _call(library, function, options):
    global _operators, _tracker
    _operators = options.get("ops") or os.environ.get("MEMOIR_OPS") or "ranges"
    options.setdefault("program", os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python")
    options.setdefault("python_version", platform.python_version())
    options.setdefault("child", _processes.is_child())
    settings = [os.fsencode(f"{name}={_text(value)}") for name, value in options.items()]
    array = (ctypes.c_char_p * (len(settings) + 1))(*settings, None)
    message = ctypes.create_string_buffer(1024)
    if getattr(library, function)(array, message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    _dispatch.let_higher_order_operators_pass()
    if _tracker is None:
        atexit.register(_stop_at_exit)
        _processes.follow(followed)
    _tracker = library
    _follow_cuda(library)
    _compiler.start(library)


def _follow_cuda(library):
    """Have the tracker told once torch has made its CUDA allocators: a hook that is attached before is attached to nothing."""
    global _follows_cuda
    cuda = sys.modules["torch"].cuda
    if not hasattr(cuda, "_lazy_call") or not hasattr(sys.modules["torch"]._C, "_cuda_init"):
        return
    if cuda.is_initialized() or not _follows_cuda:  # torch keeps what it is to call then for ever
        cuda._lazy_call(library.memoir_cuda_is_ready)
    _follows_cuda = True


def _record_modules():
    """From here on, where this process's recording asks for it and does not do so yet."""
    if _modules.asked() or _tracker.memoir_recording_modules() != 1:
        return
    import torch

    try:
        _modules.start(_library.load_modules(torch.__version__))
    except Exception as problem:
        say(f"memoir: going on without modules: {problem}; --modules off leaves them out")


def _names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _folder():
    folder = ctypes.create_string_buffer(4096)
    _tracker.memoir_output(folder, len(folder))
    return os.fsdecode(folder.value)


def _stop(reason):
    if _tracker is None:
        return
    _modules.stop()
    _compiler.stop()
    message = ctypes.create_string_buffer(1024)
    if _tracker.memoir_stop(reason, message, len(message)) != 0:
        say(f"memoir: {message.value.decode(errors='replace')}")


def _stop_at_exit():
    _stop(_EXITED)


followed = _processes.Followed(forked=_forked, begin=_begin_waiting, leave=_leave, stop_at_exit=_stop_at_exit, name_rank=_name_rank)


def _text(value):
    return str(int(value)) if isinstance(value, bool) else str(value)
