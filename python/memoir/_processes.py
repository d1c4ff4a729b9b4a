"""Which processes of a job record: ranks at once; forked children, launchers and workers of pools once they train; the workers of a
data loader never, unless they call memoir.start(). And how a rank's number comes in once torch.distributed knows it.
"""

from __future__ import annotations

import os
import sys

from memoir import _coordinates
from memoir._launchers import launchers_rank
from memoir._terminal import say

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
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
_when_task_is_known: Callable[[], None] | None = None  # of a spawned child


class Followed:
    """What is called of a recording as processes of the job come and go. _recording.py imports this file, and hands it in."""

    def __init__(
        self, *, forked: Callable[[], None], begin: Callable[[], None], leave: Callable[[], None], stop_at_exit: Callable[[], None],
        name_rank: Callable[[int, int], None],
    ) -> None:
        self.forked = forked  # in a forked child
        self.begin = begin  # of a process that was to wait until it trains: it does
        self.leave = leave  # it never does
        self.stop_at_exit = stop_at_exit
        self.name_rank = name_rank  # the rank and the number of ranks, once torch.distributed knows them


def _multiprocessing() -> Any:
    """multiprocessing.process, where the program has imported it."""
    return sys.modules.get("multiprocessing.process")


def is_child() -> bool:
    """Whether multiprocessing started this process."""
    process = _multiprocessing()
    return process is not None and process.parent_process() is not None


def speaks() -> bool:
    """Of a job's processes one says what concerns all of them: rank 0, and no child of it. Of a simulated world there is one process."""
    if is_child():
        return False
    if os.environ.get("MEMOIR_SIM_WORLD"):
        return True
    return launchers_rank() in (None, 0)


def not_recording(problem: Exception) -> None:
    """Says why this process is not recorded: one line, by the process that speaks; for `memoir run` also a note in the folder that it
    names, which it takes away, and says what nobody has said."""
    said = True
    try:
        said = speaks()
    except Exception:
        pass  # then rather once too often
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
    """For open(): what it makes is for its owner alone, as all that Memoir writes beside a capture."""
    return os.open(path, flags, 0o600)


def guarded(begin: Callable[[], None]) -> None:
    """Whatever goes wrong with a recording is one line; the program runs on."""
    try:
        begin()
    except Exception as problem:
        not_recording(problem)


def part(followed: Followed, when_task_is_known: Callable[[], None]) -> str:
    """What this process does at the end of torch's import. UNDECIDED: a spawned child, which calls `when_task_is_known` once it is."""
    global _when_task_is_known
    process = _multiprocessing()
    current = None if process is None else process.current_process()
    if getattr(current, "_inheriting", False):  # its main module is being imported, its task comes after that
        _when_task_is_known = when_task_is_known
        follow(followed)
        return UNDECIDED
    if _task(current) == _LOADER or _program() in _COMPILERS:
        return STAYS_OUT
    waits = _task(current) in _POOLS or _program() in _LAUNCHER_PROGRAMS or (_program() == _SERVER and not is_child())
    return WAITS if waits else RECORDS


def follow(followed: Followed) -> None:
    """Sees this process's forked and spawned children, and its process group, from now on, and tells `followed`."""
    global _following
    if _following:
        return
    _following = True
    from multiprocessing import context, process, util

    os.register_at_fork(after_in_child=followed.forked)
    util.register_after_fork(followed, _in_forked_task)  # as long as `followed` lives
    # Python 3.11 and later tell nobody of a spawned child's task. What they call there does nothing of its own.
    child: Any  # its _after_fork is in no stub
    for child in (context.SpawnProcess, context.ForkServerProcess):
        if "_after_fork" in vars(child):
            child._after_fork = staticmethod(lambda: _in_spawned_task(followed))
    if process.parent_process() is not None:
        _stop_with_task(followed)
    _follow_process_group(followed)


def _in_forked_task(followed: Followed) -> None:
    """In a child of multiprocessing made by fork, before its task runs."""
    _stop_with_task(followed)
    task = _own_task()
    if task == _LOADER:
        followed.leave()
    elif _when_task_is_known is not None:  # Python 3.10: spawned
        _in_spawned_task(followed)
    elif task in _TRAINERS:
        guarded(followed.begin)


def _in_spawned_task(followed: Followed) -> None:
    """In a child that a fresh Python, or a server of such, runs its task in; before it does."""
    global _when_task_is_known
    _stop_with_task(followed)
    start, _when_task_is_known = _when_task_is_known, None
    if start is not None:
        start()
    elif _own_task() == _LOADER:
        followed.leave()
    elif _own_task() not in _POOLS:
        guarded(followed.begin)


def _stop_with_task(followed: Followed) -> None:
    """A task's process ends without Python's exit handlers, but for multiprocessing's."""
    from multiprocessing import util

    util.Finalize(None, followed.stop_at_exit, exitpriority=-100)


def _own_task() -> Task:
    from multiprocessing import process

    return _task(process.current_process())


def _task(process: object) -> Task:
    target = getattr(process, "_target", None)
    return getattr(target, "__module__", None), getattr(target, "__qualname__", None)


def _program() -> str:
    """Name of the script, or of the module after `-m`."""
    words: list[str] = getattr(sys, "orig_argv", [])
    if "-m" in words[1:-1]:
        module = words[words.index("-m") + 1]
        if module in _LAUNCHER_PROGRAMS or module in _COMPILERS:
            return module
    if any(word.startswith("from multiprocessing.forkserver import main") for word in words):
        return _SERVER
    script = sys.argv[0] if sys.argv else ""
    if script.endswith(os.path.join("torch", "_inductor", "compile_worker", "__main__.py")):
        return _COMPILERS[0]
    return os.path.basename(script)


def _follow_process_group(followed: Followed) -> None:
    """torch.distributed has no place to ask to be told, but one function that every default group goes through."""
    c10d: Any = sys.modules.get("torch.distributed.distributed_c10d")
    if not hasattr(c10d, "_update_default_pg"):
        return

    def followed_update(update: Callable[[Any], None], group: Any) -> None:
        update(group)
        try:
            if group is None:
                _coordinates.forget()
            elif group is not c10d.GroupMember.NON_GROUP_MEMBER:
                followed.name_rank(group.rank(), group.size())
        except Exception as problem:
            say(f"memoir: the rank that torch.distributed gave is not in the capture: {problem}; MEMOIR_RANK=N names it")

    c10d._update_default_pg = _coordinates.hidden(followed_update, c10d._update_default_pg)
