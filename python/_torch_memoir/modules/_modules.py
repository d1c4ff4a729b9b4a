"""Records which torch.nn.Module runs: replaces Module.__call__ while modules are recorded.

    model(x) ──► our _wrapped_call_impl ──► enter (C) ─ torch's own work ─ exit (C)

docs/decisions/0007 has the reason against torch's global hooks: hooks change a program. The replacement changes neither frames nor graphs: it has the name, file and line
of torch's function, and inside torch.compile it is torch's function.
"""

from __future__ import annotations

import ctypes
import functools
import sys

from _torch_memoir import _builtin, _frames, _stand_in, _unseen
from _torch_memoir.modules import _in_dynamo, _module_names, _optimizers

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType
    from typing import Any

# The source of our function (_stand_in.Body): _TORCHS_OWN if Module.__call__ is torch's own function, _ANOTHERS if another tool has replaced it.
_TORCHS_OWN = (
    (0, "def _wrapped_call_impl(self, *args, **kwargs):"),
    (1, "  if in_dynamo(): return original(self, *args, **kwargs)"),
    (1, "  if self._compiled_call_impl is not None:"),
    (2, "    enter(self)"),
    (2, "    try: return self._compiled_call_impl(*args, **kwargs)"),
    (2, "    finally: leave(self)"),
    (3, "  enter(self)"),
    (3, "  try: return self._call_impl(*args, **kwargs)"),
    (3, "  finally: leave(self)"),
)
_ANOTHERS = (
    (0, "def _wrapped_call_impl(self, *args, **kwargs):"),
    (-1, "  if in_dynamo(): return original(self, *args, **kwargs)"),
    (-1, "  enter(self)"),
    (-1, "  try: return original(self, *args, **kwargs)"),
    (-1, "  finally: leave(self)"),
)

_HOLDERS = "_parameters", "_buffers", "_local_tensor"  # this reference keeps the strings interned

original: Any = None  # the functions that our function calls, here and in the next three lines; dynamo looks them up here
enter: Any = None
leave: Any = None
in_dynamo: Callable[[], bool] | None = None
gone: Any = None  # callback of weak references
_replacement: FunctionType | None = None  # our function, while it is installed
_held: tuple[object, ...] = ()  # objects whose addresses C keeps until the next start
_asked = False  # start was called since the last stop


class _Interpreter(ctypes.Structure):
    """struct memoir_python."""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        "none", "no", "resolve", "gone", "set_eval_frame", "inc_ref", "dec_ref",
        "generic_attribute", "next_entry", "clear_error", "utf8", "is_subtype", "parameters", "buffers", "local_tensor", "dict_type", "tensor", "parameter")]


def start(library: ctypes.PyDLL) -> None:
    """Called before or at the start of a recording into the tracker `library`. Raises if calls of modules can't be recorded in this program."""
    global _asked, _held
    _asked = True
    if enter is None:
        _make_functions(library)
    _module_names.current = _module_names.ModuleNames(library, gone)
    python = ctypes.pythonapi
    functions = (python.Py_IncRef, python.Py_DecRef, python.PyObject_GenericGetAttr, python.PyDict_Next, python.PyErr_Clear,
                 python.PyUnicode_AsUTF8AndSize, python.PyType_IsSubtype)
    objects = (None, False, _module_names.resolve, _module_names.gone, _unseen.set_eval_frame())
    library.memoir_python_setup(ctypes.byref(_Interpreter(
        *(id(o) if o is not None or i == 0 else None for i, o in enumerate(objects)),
        *(ctypes.cast(f, ctypes.c_void_p).value for f in functions),
        *_what_modules_hold())))
    _install()
    _optimizers.start(library)
    frames = _frames_of_torch()
    library.memoir_python_look_at_frames(None if frames is None else ctypes.byref(frames[0]))
    _held = objects, frames


def is_requested() -> bool:
    """Whether start was called since the last stop, also if it failed."""
    return _asked


def forked() -> None:
    """Called in a forked child. Once the child records, it records calls of modules if its parent did."""
    _module_names.forked()


def stop() -> None:
    global _asked, _replacement
    _asked = False
    _module_names.current = None
    _optimizers.stop()
    import torch

    if _replacement is None or torch.nn.Module.__call__ is not _replacement:
        return  # if another tool has wrapped ours, it stays and does nothing
    torch.nn.Module.__call__ = original
    _tell_dynamo(_replacement, original)
    _replacement = None


def _what_modules_hold() -> tuple[int, ...]:
    """Addresses of the attribute names in _HOLDERS, of dict (the class of a module's containers), and of Tensor and Parameter (the classes that are read)."""
    import torch

    return *(id(sys.intern(name)) for name in _HOLDERS), id(dict), id(torch.Tensor), id(torch.nn.Parameter)


def _frames_of_torch() -> tuple[_frames.Layout, list[object]] | None:
    import torch

    try:
        return _frames.layout(torch.nn.Module._call_impl, torch.nn.Module._slow_forward, torch.autograd.Function.apply, torch._C.TensorBase)
    except AttributeError:  # another tool's functions, or a version of torch without them
        return None


def _make_functions(library: ctypes.PyDLL) -> None:
    global enter, leave, gone, in_dynamo
    in_dynamo = _in_dynamo.function(library)
    # Profile functions see calls of builtins, but not calls of builtins through `partial`.
    enter = functools.partial(_builtin.builtin(library.memoir_python_enter, _builtin.METH_O))
    leave = functools.partial(_builtin.builtin(library.memoir_python_exit, _builtin.METH_O))
    gone = _builtin.builtin(library.memoir_python_gone, _builtin.METH_O)


def _install() -> None:
    global original, _replacement
    if _replacement is not None:
        return
    import torch

    original = torch.nn.Module.__call__
    own = original.__code__.co_names == ("_compiled_call_impl", "_call_impl") and len(_stand_in.lines_of(original)) == 4
    function = _stand_in.make(_TORCHS_OWN if own else _ANOTHERS, original, globals())
    torch.nn.Module.__call__ = function
    _replacement = function
    _tell_dynamo(original, function)


def _tell_dynamo(before: Any, after: Any) -> None:
    """Makes dynamo's fast path for modules accept our function: dynamo compares __call__ with its value when dynamo was imported."""
    for name in ("torch._dynamo.utils", "torch._dynamo.variables.nn_module"):
        module: Any = sys.modules.get(name)
        if module is not None and getattr(module, "unpatched_nn_module_call", None) is before:
            module.unpatched_nn_module_call = after
