"""Where the interpreter keeps a thread's frames, so that calls of module.forward() without module() are seen (tracker/modules/direct_calls.h).

Byte offsets from CPython's own headers, equal in all releases of a minor version. In other versions and interpreters frames are not read.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import types

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

# Byte offsets by version of Python, in three groups:
# - To the newest frame: in the thread's state; then in the structure to which that leads, or -1 if it leads to the frame.
# - In a frame: code, previous frame, owner or -1, first local.
# - In a code object: name.
_LAYOUTS = {
    (3, 10): ((24, -1), (32, 24, -1, 352), 112),
    (3, 11): ((56, 8), (32, 48, 69, 72), 120),
    (3, 12): ((56, 0), (0, 8, 70, 72), 120),
    (3, 13): ((72, -1), (0, 8, 70, 72), 120),
    (3, 14): ((72, -1), (0, 8, 74, 80), 120),
}
_TYPE, _CELL_CONTENT = 8, 16
_TUPLE_SIZE, _TUPLE_ITEMS, _BASE = 16, 24, 256  # tp_base of a type

_POINTERS = ("thread_state", "forward", "caller0", "caller1", "caller2", "caller3", "cell")
_OFFSETS = ("frame", "through", "code", "previous", "owner", "first_local", "name", "type", "cell_content")


class Kind(ctypes.Structure):
    """struct memoir_python_kind."""

    _fields_ = [("type", ctypes.c_void_p), ("kind", ctypes.c_int)]


class Layout(ctypes.Structure):
    """struct memoir_python_frames."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in _POINTERS), *((name, ctypes.c_int) for name in _OFFSETS), ("apply", ctypes.c_void_p),
        *((name, ctypes.c_int) for name in ("apply_arguments", "tuple_size", "tuple_items", "base")), ("kinds", Kind * 8)]


def layout(call_impl: Any, slow_forward: Any, apply: Any, tensor: type) -> tuple[Layout, list[object]] | None:
    """Returns the Layout and the objects that must outlive it. None if frames of this interpreter cannot be read. `call_impl`, `slow_forward`: torch's functions
    that call a module's forward. `apply`: torch's function that calls the forward of an autograd Function. `tensor`: the base of all types of tensors."""
    known = _LAYOUTS.get(sys.version_info[:2])
    plain = not hasattr(sys, "gettotalrefcount") and not sysconfig.get_config_var("Py_GIL_DISABLED") and sys.maxsize == 2**63 - 1
    if known is None or not plain or sys.implementation.name != "cpython":
        return None
    (frame, through), inside, name = known
    callers = [function.__code__ for function in (call_impl, slow_forward)]
    callers += [code for code in call_impl.__code__.co_consts if isinstance(code, types.CodeType)]  # the function that calls forward between hooks
    if len(callers) > 4:
        return None
    thread_state = ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p).value
    objects = [sys.intern("forward"), *callers, *[None] * (4 - len(callers)), types.CellType]
    addresses = (None if o is None else id(o) for o in objects)
    known_types = {tensor: "T", type(None): "N", bool: "b", int: "i", float: "d", complex: "c", tuple: "o", list: "l"}
    kinds = (Kind * 8)(*(Kind(id(of), ord(kind)) for of, kind in known_types.items()))
    made = Layout(thread_state, *addresses, frame, through, *inside, name, _TYPE, _CELL_CONTENT, *_arguments_of(apply, inside[-1]), _TUPLE_SIZE, _TUPLE_ITEMS, _BASE, kinds)
    return made, [*objects, apply, *known_types]


def _arguments_of(apply: object, first_local: int) -> tuple[int | None, int]:
    """The code of torch.autograd.Function.apply, and the byte offset of `*args` in its frame; (None, 0) if `apply` is not torch's."""
    code = getattr(getattr(apply, "__func__", None), "__code__", None)
    if code is None or code.co_varnames[:2] != ("cls", "args") or "args" in code.co_cellvars or not code.co_flags & 4:
        return None, 0
    return id(code), first_local + 8
