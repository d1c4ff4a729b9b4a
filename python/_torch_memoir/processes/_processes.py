"""Decides which processes of a job record: ranks at once; forked children, launchers and workers of pools once they train; workers of a data loader only if
they call memoir.start(). Also records the rank's number once torch.distributed knows it."""

from __future__ import annotations

import functools
import os
import sys

from _torch_memoir import _unseen
from _torch_memoir._terminal import say
from _torch_memoir.processes import _coordinates
from _torch_memoir.processes._launchers import launchers_rank

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable
    from typing import Any

    Task = tuple[str | None, str | None]  # module and name of the function that multiprocessing runs

RECORDS, WAITS, STAYS_OUT, UNDECIDED = "records", "waits until it trains", "stays out", "undecided"

# Programs that import torch to start others: `torchrun`, `python -m torch.distributed.run`.
_LAUNCHER_PROGRAMS = {"torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate", "deepspeed"}
_COMPILERS = ("torch._inductor.compile_worker",)
_POOLS = {("multiprocessing.pool", "worker"), ("concurrent.futures.process", "_process_worker")}
_SERVER = "multiprocessing.forkserver"
_LOADER = ("torch.utils.data._utils.worker", "_worker_loop")
_TRAINERS = {("torch.multiprocessing.spawn", "_wrap")}

_following = False
_tracker: ctypes.CDLL | None = None  # passed to follow()
_when_task_is_known: Callable[[], None] | None = None  # of a spawned child


def _hidden(function: Callable[..., None]) -> Callable[..., None]:
    """Returns a function that calls `function`. The program's trace and profile functions do not see the call, if the tracker is loaded."""
    called: Callable[..., None] = function if _tracker is None else _unseen.hidden(_tracker, function)
    return called


class ProcessCallbacks:
    """Functions of the recording that are called as processes of the job come and go. _recording.py imports this file and passes them in."""

    def __init__(
        self, *, forked: Callable[[], None], begin: Callable[[], None], leave: Callable[[], None], stop_at_exit: Callable[[], None],
        name_rank: Callable[[int, int], None],
    ) -> None:
        self.forked = forked  # in a forked child
        self.begin = begin  # when a process that waited begins to train
        self.leave = leave  # in a process that will never train
        self.stop_at_exit = stop_at_exit
        self.name_rank = name_rank  # gets the rank and the number of ranks, once torch.distributed knows them


def _multiprocessing() -> Any:
    """multiprocessing.process, if the program has imported it."""
    return sys.modules.get("multiprocessing.process")


def is_child() -> bool:
    """Whether multiprocessing started this process."""
    process = _multiprocessing()
    return process is not None and process.parent_process() is not None


def is_reporting_process() -> bool:
    """Whether this process prints messages that concern the whole job: rank 0 does, unless it is a child; a simulated world has one process."""
    if is_child():
        return False
    if os.environ.get("MEMOIR_SIM_WORLD"):
        return True
    return launchers_rank() in (None, 0)


def print_not_recording(problem: Exception) -> None:
    """Prints why this process is not recorded: one line, from the reporting process. Under `memoir run` it also writes the reason to a file in the folder
    MEMOIR_NOTES. `memoir run` removes the file, and prints the reason if no process has printed it."""
    said = True
    try:
        said = is_reporting_process()
    except Exception:
        pass  # then print it twice rather than never
    if said:
        say(f"memoir: not recording: {problem}")
    folder = os.environ.get("MEMOIR_NOTES", "")
    try:
        if os.path.isdir(folder):
            name = os.path.join(folder, f".not-recorded.{os.getpid()}{'' if said else '.unsaid'}")
            with open(name, "w", encoding="utf-8", errors="backslashreplace", opener=_private) as note:
                note.write(f"{problem}\n")
    except Exception:
        pass


def _private(path: str, flags: int) -> int:
    """For open(): makes a file that only its owner can read, like all files of Memoir next to a capture."""
    return os.open(path, flags, 0o600)


def run_guarded(begin: Callable[[], None]) -> None:
    """Turns any error of the recording into one line; the program runs on."""
    try:
        begin()
    except Exception as problem:
        print_not_recording(problem)


def process_role(followed: ProcessCallbacks, when_task_is_known: Callable[[], None]) -> str:
    """Decides this process's role at the end of torch's import. UNDECIDED: a spawned child, which calls `when_task_is_known` when its task is known."""
    global _when_task_is_known
    process = _multiprocessing()
    current = None if process is None else process.current_process()
    if getattr(current, "_inheriting", False):  # its main module is being imported, its task comes after that
        _when_task_is_known = when_task_is_known
        follow(followed, None)
        return UNDECIDED
    task, program = _task(current), _program()
    if task == _LOADER or program in _COMPILERS:
        return STAYS_OUT
    waits = task in _POOLS or program in _LAUNCHER_PROGRAMS or (program == _SERVER and not is_child())
    return WAITS if waits else RECORDS


def follow(followed: ProcessCallbacks, tracker: ctypes.CDLL | None) -> None:
    """From now on, calls `followed` when this process gets a forked or spawned child, or a process group. `tracker`: hides these calls from the program's trace and
    profile functions. None until it is loaded: they see the calls, and process groups are followed only after a second call, with the tracker."""
    global _tracker
    if tracker is not None and _tracker is None:
        _tracker = tracker
        _follow_group(followed, tracker)
    if not _following:
        _follow_children(followed)


def _follow_children(followed: ProcessCallbacks) -> None:
    global _following
    _following = True
    from multiprocessing import context, process, util

    os.register_at_fork(after_in_child=_hidden(followed.forked))
    util.register_after_fork(followed, _hidden(_in_forked_task))  # as long as `followed` lives
    # From Python 3.11 on, a spawned child does not call the functions of register_after_fork. It calls this method of
    # its process class, which does nothing.
    child: Any  # its _after_fork is in no stub
    for child in (context.SpawnProcess, context.ForkServerProcess):
        if "_after_fork" in vars(child):
            child._after_fork = staticmethod(_hidden(functools.partial(_in_spawned_task, followed)))
    if process.parent_process() is not None:
        _stop_with_task(followed)


def _in_forked_task(followed: ProcessCallbacks) -> None:
    """Called in a child that multiprocessing forked, before its task runs."""
    _stop_with_task(followed)
    task = _own_task()
    if task == _LOADER:
        followed.leave()
    elif _when_task_is_known is not None:  # Python 3.10: spawned
        _in_spawned_task(followed)
    elif task in _TRAINERS:
        run_guarded(followed.begin)


def _in_spawned_task(followed: ProcessCallbacks) -> None:
    """Called before the task in a child that a new Python interpreter or a fork server runs."""
    global _when_task_is_known
    _stop_with_task(followed)
    start, _when_task_is_known = _when_task_is_known, None
    if start is not None:
        start()
    elif _own_task() == _LOADER:
        followed.leave()
    elif _own_task() not in _POOLS:
        run_guarded(followed.begin)


def _stop_with_task(followed: ProcessCallbacks) -> None:
    """Stops the recording when the task ends: the process then runs multiprocessing's exit handlers, but not Python's."""
    from multiprocessing import util

    util.Finalize(None, _hidden(followed.stop_at_exit), exitpriority=-100)


def _own_task() -> Task:
    from multiprocessing import process

    return _task(process.current_process())


def _task(process: object) -> Task:
    target = getattr(process, "_target", None)
    return getattr(target, "__module__", None), getattr(target, "__qualname__", None)


def _module_sought() -> str:
    """Returns the module or package after `-m` of Python's own options: "pytest" for `python -um pytest`, "" for a script."""
    words: list[str] = getattr(sys, "orig_argv", [])[1:]
    while len(words) > 1 and words[0].startswith("-"):
        option = words.pop(0)
        for at, letter in enumerate(option[1:], 1):
            if letter == "m":
                return option[at + 1 :] or words[0]
            if letter == "c":
                return ""
            if letter in "WX":  # its value is the rest, or the next word
                words = words if option[at + 1 :] else words[1:]
                break
    return ""


def program_name() -> str:
    """Returns the name of the script, or of the module or package after `-m`: "pytest" for `python -m pytest`."""
    script = sys.argv[0] if sys.argv else ""
    if script == "-m":  # Python is still looking for the module: its package imports torch
        return _module_sought()
    folder, file = os.path.split(script)
    return (os.path.basename(folder) if file == "__main__.py" else file) or "python"


def _program() -> str:
    """Returns the name of the script, or of the module after `-m`; _SERVER, or the name of a compiler's process."""
    module = _module_sought()
    if module in _LAUNCHER_PROGRAMS or module in _COMPILERS:
        return module
    words: list[str] = getattr(sys, "orig_argv", [])
    if any(word.startswith("from multiprocessing.forkserver import main") for word in words):
        return _SERVER
    script = sys.argv[0] if sys.argv else ""
    if script.endswith(os.path.join("torch", "_inductor", "compile_worker", "__main__.py")):
        return _COMPILERS[0]
    return os.path.basename(script)


def _follow_group(followed: ProcessCallbacks, tracker: ctypes.CDLL) -> None:
    """Wraps the function that sets the default process group, because torch.distributed has no hook for it."""
    c10d: Any = sys.modules.get("torch.distributed.distributed_c10d")
    if not hasattr(c10d, "_update_default_pg"):
        return

    def updated(group: Any) -> None:
        try:
            if group is None:
                _coordinates.forget()
            elif group is not c10d.GroupMember.NON_GROUP_MEMBER:
                followed.name_rank(group.rank(), group.size())
        except Exception as problem:
            say(f"memoir: the rank that torch.distributed gave is not in the capture: {problem}; MEMOIR_RANK=N names it")

    c10d._update_default_pg = _unseen.between(tracker, c10d._update_default_pg, after=updated)
