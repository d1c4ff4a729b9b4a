"""Which torch.nn.Module runs: takes the place of Module.__call__ while modules are recorded.

    model(x) ──► our _wrapped_call_impl ──► enter (C) ─ torch's own work ─ exit (C)

Not torch's global hooks: docs/decisions/0007 has the figures and what hooks change in a program. This changes neither frames nor
graphs: it stands for torch's function of the same name, file and line, and inside torch.compile it is that function.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import sys

from memoir import _frames, _module_names, _optimizers

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FunctionType
    from typing import Any

METH_O = 8
_BODY = """
def _wrapped_call_impl(self, *args, **kwargs):
    if is_dynamo_compiling():
        return original(self, *args, **kwargs)
    enter(self)
    try:
        {call}
    finally:
        leave(self)
"""
_TORCHS_OWN = "return self._call_impl(*args, **kwargs) if self._compiled_call_impl is None else self._compiled_call_impl(*args, **kwargs)"
_ANOTHERS = "return original(self, *args, **kwargs)"

_HOLDERS = "_parameters", "_buffers", "_local_tensor"  # kept here, and with that interned for good

original: Any = None  # what our function calls, with the next three: dynamo looks them up here
enter: Any = None
leave: Any = None
is_dynamo_compiling: Callable[[], bool] | None = None
gone: Any = None  # callback of weak references
_replacement: FunctionType | None = None  # our function, while it is installed
_kept: list[object] = []  # what C holds addresses of for good
_held: tuple[object, ...] = ()  # and since the newest start
_asked = False  # start was called since the last stop


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


class _Interpreter(ctypes.Structure):
    """struct memoir_python."""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        "none", "resolve", "gone", "set_eval_frame", "inc_ref", "dec_ref", "call", "generic_attribute", "next_entry", "clear_error", "utf8",
        "is_subtype", "parameters", "buffers", "local_tensor", "dict_type", "tensor", "parameter")]


def start(library: ctypes.PyDLL) -> None:
    """Before or at the start of a recording into the tracker `library`. Raises when calls of modules can't be seen here."""
    global _asked, _held
    _asked = True
    if not _kept:
        _make_functions(library)
    _module_names.current = _module_names.Names(library, gone)
    python = ctypes.pythonapi
    functions = (python.Py_IncRef, python.Py_DecRef, python.PyObject_CallFunctionObjArgs, python.PyObject_GenericGetAttr,
                 python.PyDict_Next, python.PyErr_Clear, python.PyUnicode_AsUTF8AndSize, python.PyType_IsSubtype)
    objects = (None, _module_names.resolve, _module_names.gone, _set_eval_frame())
    library.memoir_python_setup(ctypes.byref(_Interpreter(
        *(id(o) if o is not None or i == 0 else None for i, o in enumerate(objects)),
        *(ctypes.cast(f, ctypes.c_void_p).value for f in functions),
        *_what_modules_hold())))
    _install()
    _optimizers.start(library)
    frames = _frames_of_torch()
    library.memoir_python_look_at_frames(None if frames is None else ctypes.byref(frames[0]))
    _held = objects, frames


def asked() -> bool:
    """Whether calls of modules are seen since the last stop, or could not be."""
    return _asked


def forked() -> None:
    """In a forked child, which sees calls of modules where its parent did, once it records."""
    _module_names.forked()


def stop() -> None:
    global _asked, _replacement
    _asked = False
    _module_names.current = None
    _optimizers.stop()
    import torch

    if _replacement is None or torch.nn.Module.__call__ is not _replacement:
        return  # or another tool has built on ours: it stays, and does nothing
    torch.nn.Module.__call__ = original
    _tell_dynamo(_replacement, original)
    _replacement = None


def _what_modules_hold() -> tuple[int, ...]:
    """The names of a module's own parameters and buffers, and of what a DTensor has its bytes in; what holds them; what of it is looked at."""
    import torch

    return *(id(sys.intern(name)) for name in _HOLDERS), id(dict), id(torch.Tensor), id(torch.nn.Parameter)


def _frames_of_torch() -> tuple[_frames.Layout, list[object]] | None:
    import torch

    try:
        return _frames.layout(torch.nn.Module._call_impl, torch.nn.Module._slow_forward, torch.autograd.Function.apply, torch._C.TensorBase)
    except AttributeError:  # another tool's functions, or a torch without
        return None


def _set_eval_frame() -> object:
    import torch

    return getattr(getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None), "set_eval_frame", None)


def _make_functions(library: ctypes.PyDLL) -> None:
    global enter, leave, gone
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]

    def builtin(name: bytes, function: Any) -> Any:
        definition = _MethodDef(name, ctypes.cast(function, ctypes.c_void_p).value, METH_O, None)
        _kept.append(definition)
        return make(ctypes.addressof(definition), None, None)

    # Profile functions are told of calls of builtins, but not of calls of those through `partial`.
    enter = functools.partial(builtin(b"memoir_enter", library.memoir_python_enter))
    leave = functools.partial(builtin(b"memoir_exit", library.memoir_python_exit))
    gone = builtin(b"memoir_gone", library.memoir_python_gone)


def _install() -> None:
    global original, is_dynamo_compiling, _replacement
    if _replacement is not None:
        return
    import torch

    is_dynamo_compiling = torch.compiler.is_dynamo_compiling
    original = torch.nn.Module.__call__
    function = _like(original)
    torch.nn.Module.__call__ = function
    _replacement = function
    _tell_dynamo(original, function)


def _like(call: Any) -> FunctionType:
    """Our function in the place of `call`: same name, file and line, so that tracebacks and dynamo see torch's own."""
    code = call.__code__
    own = code.co_names == ("_compiled_call_impl", "_call_impl")
    tree = ast.parse(_BODY.format(call=_TORCHS_OWN if own else _ANOTHERS))
    line = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    first, last = _columns(code, line)
    node: Any  # of one of the classes that have places
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset, node.end_col_offset = first, last
    tree.body[0].lineno = code.co_firstlineno
    space: dict[str, Any] = {}
    exec(compile(tree, code.co_filename, "exec", dont_inherit=True), globals(), space)
    function: FunctionType = space["_wrapped_call_impl"]
    function.__qualname__, function.__module__ = call.__qualname__, call.__module__
    return function


def _columns(code: CodeType, line: int) -> tuple[int, int]:
    """Where in its line the call stands, so that tracebacks underline it as ever (from Python 3.11 on)."""
    places = {(first, last) for at, _, first, last in getattr(code, "co_positions", list)() if at == line and first is not None}
    calls = places - {min(places, default=None)}  # the first is the whole statement
    return max(calls, key=lambda place: place[1] - place[0], default=(0, 0))


def _tell_dynamo(before: Any, after: Any) -> None:
    """dynamo takes a shorter way through modules whose __call__ is the one that it found when it was imported."""
    for name in ("torch._dynamo.utils", "torch._dynamo.variables.nn_module"):
        module: Any = sys.modules.get(name)
        if module is not None and getattr(module, "unpatched_nn_module_call", None) is before:
            module.unpatched_nn_module_call = after
