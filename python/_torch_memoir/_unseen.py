"""Hides Memoir's work from the program's profile and trace functions (sys.setprofile, sys.settrace, sys.monitoring).

    state = thread()
    pause(state)
    try:
        ...
    finally:
        resume(state)

Trace and profile functions do not see `pause` and `resume`, because ctypes calls them. They do not see these calls of Memoir's functions either:

    torch.f = between(library, torch.f, after=note)    # calls torch.f, then `note` with the same arguments
    atexit.register(hidden(library, stop))             # calls `stop`

Python 3.10 cannot pause trace and profile functions, so they see all of Memoir's work there.
"""

from __future__ import annotations

import ctypes
import functools
import sys

from _torch_memoir import _builtin

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_python = ctypes.PyDLL(None)
thread = _python["PyThreadState_Get"]
thread.restype = ctypes.c_void_p
_can_pause = hasattr(_python, "PyThreadState_EnterTracing")
pause = _python["PyThreadState_EnterTracing" if _can_pause else "Py_IsInitialized"]
resume = _python["PyThreadState_LeaveTracing" if _can_pause else "Py_IsInitialized"]
for _function in (pause, resume):
    _function.argtypes = [ctypes.c_void_p]
    _function.restype = None if _can_pause else ctypes.c_int

_make_method = _python["PyInstanceMethod_New"]
_make_method.argtypes, _make_method.restype = [ctypes.py_object], ctypes.py_object


def set_eval_frame() -> object:
    """Returns the function that switches dynamo, torch's compiler, off on this thread. None if this torch has no dynamo."""
    torch: Any = sys.modules.get("torch")
    return getattr(getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "eval_frame", None), "set_eval_frame", None)


def between(
    library: ctypes.CDLL, original: Callable[..., Any] | None, *, before: Callable[..., None] | None = None, after: Callable[..., None] | None = None,
) -> Any:
    """Returns a replacement for `original`. It calls `before`, `original` and `after` with its arguments, without those that are None, and returns the result of `original`.
    Trace functions and profile functions see `original` alone, and torch's compiler compiles neither `before` nor `after`. If `original` raises an exception, `after` is not called."""
    functions = original, before, after, set_eval_frame()
    # Profile functions see calls of builtins, but not calls of builtins through `partial`.
    function = functools.partial(_builtin.builtin(library.memoir_python_between_unseen, _builtin.METH_VARARGS_KEYWORDS, functions))
    return function if original is None else functools.update_wrapper(function, original)


def method_between(
    library: ctypes.CDLL, original: Callable[..., Any], *, before: Callable[..., None] | None = None, after: Callable[..., None] | None = None,
) -> Any:
    """between() for the place of a method in a class: all three functions get `self`."""
    return _make_method(between(library, original, before=before, after=after))


def hidden(library: ctypes.CDLL, function: Callable[..., None]) -> Any:
    """Returns a function that calls `function`, and returns None. Trace functions and profile functions do not see the call."""
    return between(library, None, after=function)
