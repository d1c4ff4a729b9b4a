"""Records when torch.compile works: replaces the methods by which dynamo and inductor log their events, also without a profiler.

Each event becomes a range "torch.compile: NAME" of its thread (tracker/modules/compiler_work.h). When a compilation ends, ranges without length record what was
compiled, where graphs broke, and the operations of the generated code (_compiled_code.py); docs/event_schema.md has their texts. Imports nothing of torch's
compilers: the methods are replaced when the program imports them.
"""

from __future__ import annotations

import sys

from _torch_memoir import _unseen
from _torch_memoir.compiled import _compiled_code

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any, TypeGuard

_UTILS = "torch._dynamo.utils"
_PREFIX = "torch.compile: "
_LONGEST = 300  # characters of a file's name, or of a reason
_MOST_BREAKS = 10_000  # graph breaks that are noted

# An event of dynamo during which the program runs: inductor's first run of a CUDA graph, which allocates the model's memory.
_PROGRAMS = {"CUDAGraphNode.record"}

_library: ctypes.CDLL | None = None
_replaced: list[tuple[type, str, Any, Any]] = []  # (class, name, torch's function, ours)
_noted: object = None  # the metrics of the newest compilation that was recorded
_breaks = 0  # how many of dynamo's graph breaks were read
_breaks_noted = 0
_code: _compiled_code.CompiledCode | None = None


def start(library: ctypes.CDLL) -> None:
    """Called before a recording into the tracker `library`."""
    global _library, _code, _breaks, _breaks_noted
    _library = library
    _code = _compiled_code.CompiledCode(_say)
    _breaks_noted = 0
    utils = sys.modules.get(_UTILS)
    if _is_imported(utils):
        _install(utils)
        _breaks = len(getattr(utils, "graph_break_reasons", ()))
        _quietly(_code.loaded)  # code that was compiled before
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(library))


def stop() -> None:
    global _library, _code
    _library = _code = None
    _remove_finder()
    for owner, name, original, ours in _replaced:
        if vars(owner).get(name) is ours:  # if another tool has wrapped ours, it stays and does nothing
            setattr(owner, name, original)
    _replaced.clear()


class _Finder:
    """A finder on sys.meta_path that finds no module. At the first import after torch's compilers were imported, it replaces methods of their classes."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.find_spec = _unseen.hidden(library, lambda *_, **__: _quietly(self._look))

    def _look(self) -> None:
        utils = sys.modules.get(_UTILS)
        if _is_imported(utils):
            # The finder stays in the list until the first event: importlib is iterating over the list, and would skip the next finder.
            self.find_spec = _unseen.between(self._library, None)
            _install(utils)


def _remove_finder() -> None:
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]


def _is_imported(module: ModuleType | None) -> TypeGuard[ModuleType]:
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def _install(utils: ModuleType) -> None:
    logger = getattr(utils, "ChromiumEventLogger", None)
    if _replaced or logger is None:
        return
    _replace(logger, "log_event_start", after=_started)
    _replace(logger, "log_event_end", before=lambda logger, *_, **__: _quietly(_note, logger, utils), after=_ended)
    for name in ("reset", "_reset_to_state"):
        _replace(logger, name, after=_ended)
    graphs = getattr(sys.modules.get("torch.fx.graph_module"), "GraphModule", None)
    if graphs is not None:
        _replace(graphs, "recompile", after=lambda module, *_, **__: _quietly(_see_graph, module))


def _replace(owner: type, name: str, *, before: Callable[..., None] | None = None, after: Callable[..., None] | None = None) -> None:
    original = vars(owner).get(name)
    if original is None or _library is None:
        return
    ours = _unseen.method_between(_library, original, before=before, after=after)
    setattr(owner, name, ours)
    _replaced.append((owner, name, original, ours))


def _started(logger: Any, *_: Any, **__: Any) -> None:
    _remove_finder()
    _tell(logger, True)
    _quietly(_look_at_graph, logger)


def _ended(logger: Any, *_: Any, **__: Any) -> None:
    _tell(logger, False)


def _quietly(function: Callable[..., None], *arguments: Any) -> None:
    try:
        function(*arguments)
    except Exception:  # another version of torch: not recorded
        pass


def _tell(logger: Any, begun: bool) -> None:
    library = _library
    if library is None:
        return
    try:
        stack = logger.get_stack()
        begins = begun and stack and stack[-1] not in _PROGRAMS
        library.memoir_python_compiler(len(stack), (_PREFIX + stack[-1]).encode("utf-8", "replace") if begins else None)
    except Exception:  # another version of torch's logger: the following work is recorded as the program's
        pass


def _look_at_graph(logger: Any) -> None:
    """Reads the graph that dynamo passes to a backend: a local variable of the function that logs the event."""
    stack = logger.get_stack()
    if _code is None or not stack or stack[-1] != "backend_compile":
        return
    frame: FrameType | None = sys._getframe()
    for _ in range(10):
        graph = getattr(frame.f_locals.get("gm"), "graph", None) if frame is not None else None
        if graph is not None:
            _code.dynamo_made(graph)
            return
        frame = frame.f_back if frame is not None else None


def _see_graph(module: Any) -> None:
    """Notes the graph's function at once if no compilation runs: it may be called now."""
    if _code is None or _library is None:
        return
    _code.recompiled(module)
    utils = sys.modules.get(_UTILS)
    logger = getattr(utils, "get_chromium_event_logger", None)
    if logger is None or not logger().get_stack():
        _code.note_graphs()


def _note(logger: Any, utils: Any) -> None:
    """Called at the end of an event. Records what was compiled, at the outermost event, or after inductor ran a file."""
    global _noted
    code = _code
    if code is None or _library is None:
        return
    stack = logger.get_stack()
    if stack and stack[-1] == "PyCodeCache.load_by_key_path":
        code.forget_graphs()
        code.loaded()
    if len(stack) != 1:
        return
    code.note_graphs()
    newest = utils.get_compilation_metrics()[-1:]
    facts = newest[0] if newest and newest[0] is not _noted else None
    number = str(getattr(facts, "compile_id", None) or "")
    _note_breaks(code, utils, number)
    if facts is None:
        return
    _noted = facts
    # If autograd's thread compiles a backward graph within another compilation, both log a reason, and the inner compilation counts as outermost.
    forward = getattr(facts, "is_forward", True) is not False and getattr(facts, "co_name", None)
    kind = "forward" if forward else "backward"
    file, line = str(getattr(facts, "co_filename", None) or ""), int(getattr(facts, "co_firstlineno", None) or 0)
    function = code.qualified(file, line, str(getattr(facts, "co_name", None) or ""))
    failure = ": ".join(str(fact) for fact in (getattr(facts, "fail_type", None), getattr(facts, "fail_reason", None)) if fact)
    _say_fields(kind, number, function, file, str(line), str(getattr(facts, "recompile_reason", None) or ""), failure)


def _note_breaks(code: _compiled_code.CompiledCode, utils: Any, number: str) -> None:
    global _breaks, _breaks_noted
    reasons = getattr(utils, "graph_break_reasons", ())
    first = _breaks if _breaks <= len(reasons) else 0  # dynamo was reset
    _breaks = len(reasons)
    for broken in reasons[first:]:
        _breaks_noted += 1
        if _breaks_noted > _MOST_BREAKS:
            return
        place = broken.user_stack[-1] if broken.user_stack else None
        file, line, name = (place.filename, place.lineno or 0, place.name) if place is not None else ("", 0, "")
        reason = str(broken.reason).partition("\n  Hint:")[0].partition("\n  Developer debug context:")[0]
        _say_fields("break", number, code.qualified(file, line, name), file, str(line), reason, "")


def _say_fields(*fields: str) -> None:
    _say("\t".join(" ".join(field.split())[:_LONGEST] for field in fields))


def _say(text: str) -> None:
    if _library is not None:
        _library.memoir_python_compiled((_PREFIX + text).encode("utf-8", "replace"))
