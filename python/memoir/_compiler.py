"""When torch.compile works: dynamo and inductor tell their event logger, with or without a profiler, and we stand between.

Each event becomes a range "torch.compile: NAME" of its thread (tracker/modules/compiler_work.h). When a compilation ends, one more says
what it was about, as JSON behind the same words. Nothing of torch's compilers is imported for it: they are looked for when the program does.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_UTILS = "torch._dynamo.utils"
_PREFIX = "torch.compile: "
_LONGEST = 300  # characters of a file's name, or of a reason
_FACTS = {"compile_id": "id", "co_name": "function", "co_filename": "file", "co_firstlineno": "line", "recompile_reason": "reason",
          "fail_type": "failure", "fail_reason": "failed_because"}

# Of what they time, what is the program's: inductor's first run of a CUDA graph, whose memory is the model's.
_PROGRAMS = {"CUDAGraphNode.record"}

_library: ctypes.CDLL | None = None
_replaced: list[tuple[type, str, Any, Any]] = []  # (class, name, torch's function, ours)
_noted: object = None  # the metrics of the newest compilation that was recorded


def start(library: ctypes.CDLL) -> None:
    """Before a recording into the tracker `library`."""
    global _library
    _library = library
    utils = sys.modules.get(_UTILS)
    if utils is not None and not getattr(utils.__spec__, "_initializing", False):
        _install(utils)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def stop() -> None:
    global _library
    _library = None
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for owner, name, original, ours in _replaced:
        if vars(owner).get(name) is ours:  # or another tool has built on it: it stays, and does nothing
            setattr(owner, name, original)
    _replaced.clear()


class _Finder:
    """On sys.meta_path until the program imports torch's compilers, and never an answer for anything else."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != _UTILS:
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    loader: Any = _Loader(spec.loader)  # what importlib calls of a loader, without the methods that it has no more
                    spec.loader = loader
                return spec
        return None


class _Loader:
    """Runs the module as its own loader does, which it has again before its first line runs."""

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


def _replace(owner: type, name: str, around: Callable[[Any], Any]) -> None:
    original = vars(owner).get(name)
    if original is None:
        return
    ours = around(original)
    # As dynamo sees torch's own: it passes over frames of torch's files, should it look here.
    ours.__code__ = ours.__code__.replace(co_filename=original.__code__.co_filename, co_name=name)
    ours.__name__, ours.__qualname__, ours.__module__ = original.__name__, original.__qualname__, original.__module__
    setattr(owner, name, ours)
    _replaced.append((owner, name, original, ours))


def _starting(original: Callable[..., None]) -> Callable[..., None]:
    def log_event_start(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        _tell(self, True)

    return log_event_start


def _ending(original: Callable[..., None], utils: ModuleType) -> Callable[..., None]:
    def log_event_end(self: Any, *arguments: Any, **named: Any) -> None:
        _note(self, utils)
        original(self, *arguments, **named)
        _tell(self, False)

    return log_event_end


def _resetting(original: Callable[..., None]) -> Callable[..., None]:
    def reset(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        _tell(self, False)

    return reset


def _tell(logger: Any, begun: bool) -> None:
    library = _library
    if library is None:
        return
    try:
        stack = logger.get_stack()
        begins = begun and stack and stack[-1] not in _PROGRAMS
        library.memoir_python_compiler(len(stack), (_PREFIX + stack[-1]).encode("utf-8", "replace") if begins else None)
    except Exception:  # another torch's logger: what follows is recorded as the program's
        pass


def _note(logger: Any, utils: ModuleType) -> None:
    """At the end of the outermost event, when torch has made its metrics of a compilation."""
    global _noted
    library = _library
    if library is None:
        return
    try:
        if len(logger.get_stack()) != 1:
            return
        newest = utils.get_compilation_metrics()[-1:]
        if not newest or newest[0] is _noted:
            return
        _noted = newest[0]
        facts = {ours: getattr(_noted, theirs, None) for theirs, ours in _FACTS.items()}
        facts = {name: fact[:_LONGEST] if isinstance(fact, str) else fact for name, fact in facts.items() if fact is not None}
        if getattr(_noted, "is_forward", True) is False:
            facts["backward"] = True
        library.memoir_python_compiled((_PREFIX + json.dumps(facts)).encode("utf-8", "replace"))
    except Exception:  # likewise
        pass
