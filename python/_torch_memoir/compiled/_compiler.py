"""Records when torch.compile works: replaces the methods by which dynamo and inductor log their events, also without a profiler.

Each event becomes a range "torch.compile: NAME" of its thread (tracker/modules/compiler_work.h). When a compilation ends, ranges without length record what was
compiled, where graphs broke, and the operations of the generated code (_compiled_code.py); docs/event_schema.md has their texts. Imports nothing of torch's
compilers: the methods are replaced when the program imports them.
"""

from __future__ import annotations

import sys

from _torch_memoir.compiled import _compiled_code

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType
    from typing import Any

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
    if utils is not None and not getattr(utils.__spec__, "_initializing", False):
        _install(utils)
        _breaks = len(getattr(utils, "graph_break_reasons", ()))
        _quietly(_code.loaded)  # code that was compiled before
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def stop() -> None:
    global _library, _code
    _library = _code = None
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for owner, name, original, ours in _replaced:
        if vars(owner).get(name) is ours:  # if another tool has wrapped ours, it stays and does nothing
            setattr(owner, name, original)
    _replaced.clear()


class _Finder:
    """A finder on sys.meta_path until the program imports torch's compilers. It finds no other module."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _UTILS:
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    loader: Any = _Loader(spec.loader)  # importlib uses the old methods only if a loader has them
                    spec.loader = loader
                return spec
        return None


class _Loader:
    """Runs the module with its own loader. Puts that loader back in place first, so the module's code finds it as without Memoir."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        if _library is not None:
            _install(module)


def _install(utils: ModuleType) -> None:
    logger = getattr(utils, "ChromiumEventLogger", None)
    if _replaced or logger is None:
        return
    _replace(logger, "log_event_start", _starting)
    _replace(logger, "log_event_end", lambda original: _ending(original, utils))
    for name in ("reset", "_reset_to_state"):
        _replace(logger, name, _resetting)
    graphs = getattr(sys.modules.get("torch.fx.graph_module"), "GraphModule", None)
    if graphs is not None:
        _replace(graphs, "recompile", _recompiling)


def _replace(owner: type, name: str, around: Callable[[Any], Any]) -> None:
    original = vars(owner).get(name)
    if original is None:
        return
    ours = around(original)
    # With a file name of torch's: dynamo skips frames of torch's files.
    ours.__code__ = ours.__code__.replace(co_filename=original.__code__.co_filename, co_name=name)
    ours.__name__, ours.__qualname__, ours.__module__ = original.__name__, original.__qualname__, original.__module__
    setattr(owner, name, ours)
    _replaced.append((owner, name, original, ours))


def _starting(original: Callable[..., None]) -> Callable[..., None]:
    def log_event_start(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        _tell(self, True)
        _quietly(_look_at_graph, self)

    return log_event_start


def _ending(original: Callable[..., None], utils: ModuleType) -> Callable[..., None]:
    def log_event_end(self: Any, *arguments: Any, **named: Any) -> None:
        _quietly(_note, self, utils)
        original(self, *arguments, **named)
        _tell(self, False)

    return log_event_end


def _resetting(original: Callable[..., None]) -> Callable[..., None]:
    def reset(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        _tell(self, False)

    return reset


def _recompiling(original: Callable[..., Any]) -> Callable[..., Any]:
    def recompile(self: Any, *arguments: Any, **named: Any) -> Any:
        made = original(self, *arguments, **named)
        _quietly(_see_graph, self)
        return made

    return recompile


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
