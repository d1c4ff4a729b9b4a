"""Makes functions of the shared libraries callable from Python without a Python frame, as builtin functions are."""

from __future__ import annotations

import ctypes
import functools

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

METH_VARARGS_KEYWORDS, METH_O, METH_FASTCALL = 0x3, 0x8, 0x80  # how Python passes the arguments, in its C API


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


_make = ctypes.PyDLL(None)["PyCFunction_NewEx"]
_make.argtypes, _make.restype = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p], ctypes.py_object


@functools.cache  # Python keeps the address of each for ever
def _definition(name: str, address: int | None, flags: int) -> _MethodDef:
    return _MethodDef(name.encode(), address, flags, None)


def builtin(function: Any, flags: int, itself: object = None) -> Any:
    """Returns `function`, a function of a ctypes library, as a builtin whose first argument `self` is `itself`. `flags`: one of METH_..."""
    address = ctypes.cast(function, ctypes.c_void_p).value
    return _make(ctypes.addressof(_definition(function.__name__, address, flags)), itself, None)
