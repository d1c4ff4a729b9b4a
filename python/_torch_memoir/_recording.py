"""start, stop, mark, step: calls into the tracker's C interface (memoir.h). The docstrings are the documentation of `memoir.start` and so on."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterator  # noqa: TC003  # typing.get_type_hints evaluates annotations

from _torch_memoir import _dispatch, _library, _stopped, _tracing, _uncaught, _unseen
from _torch_memoir._lazy import Lazy
from _torch_memoir._terminal import say
from _torch_memoir.compiled import _compiler
from _torch_memoir.holders import _holders
from _torch_memoir.modules import _modules
from _torch_memoir.processes import _coordinates, _processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typing

    from _torch_memoir.captures import _capture
else:
    globals().update(typing=Lazy("typing"), _capture=Lazy("_torch_memoir.captures._capture"))

StrOrBytesPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_STOPPED, _EXITED = 1, 2  # enum memoir_end

_tracker: ctypes.CDLL | None = None  # the loaded library, once a recording was started here
_by_environment = False  # `memoir run` started the recording
_operators = "ranges"  # operators of the newest recording: ranges or dispatch
_passed_over = 0  # calls of start that were ignored under `memoir run`; as many calls of stop are also ignored
_next_step = 0
_follows_cuda = False  # torch will call the tracker, or has called it (_follow_cuda)


def start(
    output: StrOrBytesPath | None = None,
    *,
    max_size: int | str | None = None,
    ring_dir: StrOrBytesPath | None = None,
    ring_size: int | str | None = None,
    rank: int | None = None,
    ops: typing.Literal["ranges", "dispatch"] | None = None,
    modules: bool | typing.Literal["on", "off"] | None = None,
    stacks: typing.Literal["python", "native", "calls", "off"] | None = None,
    holders: bool | None = None,
    kernels: bool | typing.Literal["on", "off", "times"] | None = None,
    publish: typing.Literal["none", "nvtx-memory"] | None = None,
    quiet: bool | None = None,
    steps: str | None = None,
    range: str | None = None,
    schedule: str | None = None,
    detail: typing.Literal["full", "auto", "blocks"] | None = None,
    start: typing.Literal["on", "memory", "off"] | None = None,
    toggle_signal: str | None = None,
    control: StrOrBytesPath | None = None,
    snapshot_signal: str | None = None,
    snapshot_on: str | None = None,
    **unknown: typing.NoReturn,
) -> None:
    """Record the memory of this process into a folder, until `stop()` or the end of the program.

        memoir.start("run1", max_size="2GiB")
        train(model)
        memoir.stop()               # then, in a shell: memoir show run1

    Every allocation and deallocation of PyTorch is recorded, on the CPU and on CUDA devices, with the operator and the torch.nn.Module that
    was running. The results of the program do not change. torch is imported if it is not yet.

    An option that is not given is taken from its environment variable (max_size from MEMOIR_MAX_SIZE); if that is not set, the default
    holds. A size is a number of bytes, or text with a unit: "512MiB" and "2.5GiB" are powers of 1024, "2GB" is one of 1000.

    output: folder of the capture, made if it is not there; a capture that it holds is added to (default: memoir-DATE-TIME in the current folder)
    max_size: most that one process keeps in the capture. Beyond it the oldest events are evicted, and their sums stay. 0: no limit (default: 4GiB)
    ring_dir: folder on this machine for the event ring, the buffer between the program and the capture (default: /dev/shm where there is room, else TMPDIR)
    ring_size: size of the event ring; smaller where the folder has less room (default: 32MiB); without it, up to 128MiB where very many threads record
    rank: number of this process in a distributed job, from 0 (default: the launcher's, such as RANK of torchrun, else 0)
    ops: "ranges" records the operators that the program calls, "dispatch" those below autograd, as a TorchDispatchMode sees them (default: ranges)
    modules: on or off: record which torch.nn.Module each operator belongs to (default: on)
    stacks: "python", "native", "calls" or "off": record which line of Python code made each block and operator (default: python);
        native: with the frames of C and C++ inside it, which `memoir symbolize` names afterwards
        calls: with each call of a Python function; this slows down programs that run much Python
    holders: search for the Python objects that hold tensors, after 6, 12, 24, ... steps and at the end, for `memoir check leaks`; a search
        takes some tenths of a second, 1 s in a large program (default: False)
    kernels: on or off: record each launch of a CUDA kernel, with its name and stream (default: on)
        "times": also how long each kernel, copy and fill ran, measured by CUPTI if no other tool uses it
    publish: "nvtx-memory" publishes the blocks of PyTorch's CUDA allocator through NVTX's memory extension, so that a tool that listens to it, such as
        compute-sanitizer, sees tensors and not segments (default: none)
    quiet: print nothing but errors (default: False)
    steps: "10:12" records operators in the steps 10 and 11, and outside of them allocations only. Steps are counted from 0: calls of memoir.step();
        without such calls, steps of torch.profiler, else of the first optimizer
    range: "NAME" records operators inside of torch.profiler.record_function("NAME"), "NAME#2" inside of call 2 of it, counted from 0
    schedule: records operators in a cycle of steps, with the words of torch.profiler.schedule: "wait=1,warmup=1,active=3,repeat=2", also skip_first
    detail: "full", "auto" or "blocks": auto records operators only in steps that differ from earlier ones, blocks in none (default: full)
    start: what is recorded at first: "on", "memory" (allocations, no operators) or "off", nothing until `resume()` (default: on)
    toggle_signal: name of a signal that switches the recording off and on in turn, such as "USR2"
    control: file that switches the recording when the word on, memory or off is written into it, or when it is touched; the word snapshot makes a snapshot
        (default: control, in the capture's folder)
    snapshot_signal: name of a signal that makes a snapshot of what is live, such as "USR1", in snapshots/ of the capture's folder
    snapshot_on: events that make a snapshot: "oom" (the first 8 out-of-memory errors), "exception" (one that ends the program), "exit" (a program that
        ends with an exit code other than 0); several with commas

    Raises RuntimeError, whose message names the fix, if an option is not known or recording can't start. A program under `memoir run` is
    recorded already: there this call and its `stop()` only print one line on standard error.
    """
    _start(locals())  # the arguments by their names


def _start(given: dict[str, typing.Any]) -> None:
    global _by_environment, _passed_over
    import torch  # under `memoir run`, this starts that recording

    if _by_environment and _tracker is not None and is_recording():
        _passed_over += 1
        if _processes.is_reporting_process():
            say(f"memoir: memoir.start() ignored: this process is being recorded already, into {_folder(_tracker)}")
        return
    options = {name: value for name, value in (*given.items(), *given["unknown"].items()) if name != "unknown" and value is not None}
    speaks = not options.get("quiet") and _processes.is_reporting_process()
    if speaks and (output := options.get("output")) and any(name.endswith(b".memoir") for name in _names(os.fsencode(output))):
        say(f"memoir: {os.fsdecode(output)} already holds a capture; this recording is added to it")
    _begin(torch.__version__, options)
    _by_environment, _passed_over = False, 0


def start_by_environment(torch_version: str) -> None:
    """Starts the recording that `memoir run` requested, at the end of torch's import."""
    global _by_environment
    if is_recording():
        return
    tracker = _begin(torch_version, {"automatic": True})
    _by_environment = True
    os.environ["MEMOIR_OUTPUT"] = os.environ.get("MEMOIR_OUTPUT") or _folder(tracker)  # child processes record into this process's folder


def watch_by_environment(torch_version: str) -> None:
    """Prepares this recording for a process that may never train. The recording starts once the process trains."""
    global _by_environment
    _call(_library.load(torch_version), "memoir_watch", {"automatic": True})
    _by_environment = True


def _forked() -> None:
    """Called in a forked child: drops its parent's state. The child records once it trains."""
    global _by_environment, _passed_over
    if _tracker is not None:
        _by_environment, _passed_over = True, 0
        _modules.forked()
        _holders.forked()
        _coordinates.forget()
        _tracker.memoir_forked()


def _begin_waiting() -> None:
    """Starts the recording of a process that waited until it trains."""
    if _tracker is not None:
        message = ctypes.create_string_buffer(1024)
        if _tracker.memoir_begin(message, len(message)) != 0:
            raise RuntimeError(message.value.decode(errors="replace"))
        _look_inside(_tracker)
        _coordinates.report(_tracker)


def _leave() -> None:
    """Ends the wait of a process that will never train."""
    if _tracker is not None:
        _tracker.memoir_leave()


def _name_rank(rank: int, world_size: int) -> None:
    """Called when the job's process group exists: only a process that trains makes one."""
    _processes.run_guarded(_begin_waiting)
    if _tracker is not None:
        _tracker.memoir_rank(rank, world_size)
        _coordinates.report(_tracker)


def stop() -> _capture.Capture | None:
    """End the recording, write it to disk, and return its capture as `memoir.load` opens it; a notebook shows its peak.

    Returns None if no recording is running. Nested calls of `start`: only the last `stop` ends the recording.
    """
    global _passed_over
    was_recording = is_recording()
    if was_recording and _passed_over > 0:
        _passed_over -= 1
        return None
    _stop(_STOPPED)
    return _stopped.capture_in(_folder(_tracker)) if _tracker is not None and was_recording else None


@contextlib.contextmanager
def session(
    output: StrOrBytesPath | None = None,
    *,
    max_size: int | str | None = None,
    ring_dir: StrOrBytesPath | None = None,
    ring_size: int | str | None = None,
    rank: int | None = None,
    ops: typing.Literal["ranges", "dispatch"] | None = None,
    modules: bool | typing.Literal["on", "off"] | None = None,
    stacks: typing.Literal["python", "native", "calls", "off"] | None = None,
    holders: bool | None = None,
    kernels: bool | typing.Literal["on", "off", "times"] | None = None,
    publish: typing.Literal["none", "nvtx-memory"] | None = None,
    quiet: bool | None = None,
    steps: str | None = None,
    range: str | None = None,
    schedule: str | None = None,
    detail: typing.Literal["full", "auto", "blocks"] | None = None,
    start: typing.Literal["on", "memory", "off"] | None = None,
    toggle_signal: str | None = None,
    control: StrOrBytesPath | None = None,
    snapshot_signal: str | None = None,
    snapshot_on: str | None = None,
    **unknown: typing.NoReturn,
) -> Iterator[None]:
    """Record the statements in a `with` block: calls `start()` with these options, and `stop()` at the end of the block.

        with memoir.session("run1"):
            train(model)
    """
    _start(locals())
    try:
        yield
    finally:
        stop()


def mark(name: object) -> None:
    """Name this instant: `memoir show --at mark:NAME` shows the blocks live at it. Does nothing if this process is not recorded.

    The name may have 1024 bytes in UTF-8; a longer one is cut off.
    """
    if _tracker is not None:
        _tracker.memoir_mark(str(name).encode("utf-8", "replace"))


def step(number: int | None = None) -> None:
    """Begin a training step: call it first in the body of the loop. `memoir show --steps 10:12` and the option `steps` count these.

    `number` is the step's, from 0; without it, the one after the last. Does nothing if this process is not recorded.
    """
    global _next_step
    number = _next_step if number is None else int(number)
    if not 0 <= number < 2**64:
        raise ValueError(f"memoir.step({number}): steps are counted from 0")
    _next_step = number + 1
    if _tracker is not None:
        _tracker.memoir_step(number)
        _look_inside(_tracker)
        _holders.step(_holders.STEP)


def is_recording() -> bool:
    """Whether this process is being recorded, also while the recording is paused."""
    return _tracker is not None and bool(_tracker.memoir_recording() == 1)


def recording() -> bool:
    """The old name of `is_recording()`."""
    return is_recording()


def operators() -> str:
    """The operators of the newest recording: "ranges" or "dispatch"."""
    return _operators


def tracker() -> ctypes.CDLL | None:
    """The library that records this process, or recorded it; None before the first `start()`."""
    return _tracker


def marker() -> Callable[[bytes], None]:
    """The library's function for `mark`, for code that calls it often: takes bytes."""
    assert _tracker is not None, "only while this process is recorded"
    function: Callable[[bytes], None] = _tracker.memoir_mark
    return function


def output_dir() -> str | None:
    """The folder of the capture as an absolute path, also after `stop()`; None before the first `start()`."""
    return None if _tracker is None else _folder(_tracker)


def output() -> str | None:
    """The old name of `output_dir()`."""
    return output_dir()


def _begin(torch_version: str, options: dict[str, typing.Any]) -> ctypes.CDLL:
    library = _library.load(torch_version)
    _call(library, "memoir_start", options)
    if _modules.is_requested() and library.memoir_recording_modules() != 1:
        _modules.stop()  # a forked child inherits them from its parent's recording
    _look_inside(library)
    _coordinates.report(library)
    return library


def _call(library: ctypes.CDLL, function: str, options: dict[str, typing.Any]) -> None:
    global _operators, _tracker
    _operators = options.get("ops") or os.environ.get("MEMOIR_OPS") or "ranges"
    options.setdefault("program", _processes.program_name())
    options.setdefault("python_version", platform.python_version())
    options.setdefault("child", _processes.is_child())
    settings = [os.fsencode(f"{name}={_text(value)}") for name, value in options.items()]
    array = (ctypes.c_char_p * (len(settings) + 1))(*settings, None)
    message = ctypes.create_string_buffer(1024)
    if getattr(library, function)(array, message, len(message)) != 0:
        raise RuntimeError(message.value.decode(errors="replace"))
    _dispatch.let_higher_order_operators_pass()
    if _tracker is None:
        atexit.register(_unseen.hidden(library, _stop_at_exit))
        _processes.follow(process_callbacks, library)
        _coordinates.follow(library)
    _tracker = library
    _follow_cuda(library)
    _compiler.start(library)


def _follow_cuda(library: ctypes.CDLL) -> None:
    """Calls the tracker when torch has made its CUDA allocators: a hook attached before that has no effect."""
    global _follows_cuda
    cuda = sys.modules["torch"].cuda
    if not hasattr(cuda, "_lazy_call") or not hasattr(sys.modules["torch"]._C, "_cuda_init"):
        return
    if cuda.is_initialized() or not _follows_cuda:  # only once, because torch keeps a callback for ever
        cuda._lazy_call(library.memoir_cuda_is_ready)
    _follows_cuda = True


def _look_inside(library: ctypes.CDLL) -> None:
    """Starts to record modules, calls of Python functions and holders of tensors, if the options request it and it has not started already."""
    _record_modules(library)
    _trace_calls(library)
    if not _holders.is_requested() and library.memoir_recording_holders() == 1:
        _holders.start(_library.load_modules(sys.modules["torch"].__version__))


def _record_modules(library: ctypes.CDLL) -> None:
    if _modules.is_requested() or library.memoir_recording_modules() != 1:
        return
    try:
        _modules.start(_library.load_modules(sys.modules["torch"].__version__))
    except Exception as problem:
        say(f"memoir: recording without modules: {problem}; --modules off hides this line")


def _trace_calls(library: ctypes.CDLL) -> None:
    if _tracing.is_requested() or library.memoir_recording_calls() != 1:
        return
    if problem := _tracing.start(_library.load_modules(sys.modules["torch"].__version__)):
        say(f"memoir: recording without calls of Python functions: {problem}; --stacks python hides this line")


def _names(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _folder(tracker: ctypes.CDLL) -> str:
    folder = ctypes.create_string_buffer(4096)
    tracker.memoir_output(folder, len(folder))
    return os.fsdecode(folder.value)


def _stop(reason: int) -> None:
    if _tracker is None:
        return
    _holders.end()
    _tracing.stop()
    _modules.stop()
    _compiler.stop()
    message = ctypes.create_string_buffer(1024)
    if _tracker.memoir_stop(reason, message, len(message)) != 0:
        say(f"memoir: {message.value.decode(errors='replace')}")


def _stop_at_exit() -> None:
    if _tracker is not None:
        _tracker.memoir_uncaught(_uncaught.with_traceback().encode("utf-8", "replace"))
    _stop(_EXITED)


process_callbacks = _processes.ProcessCallbacks(forked=_forked, begin=_begin_waiting, leave=_leave, stop_at_exit=_stop_at_exit, name_rank=_name_rank)


def _text(value: object) -> str:
    if isinstance(value, (bytes, os.PathLike)):
        return os.fsdecode(value)
    return str(int(value)) if isinstance(value, bool) else str(value)
