"""Finds out whether torch's compiler traces the caller, without a Python frame that the program's trace and profile functions would see.

    in_dynamo()     Python runs the caller: False, because a function in C is called
                    Dynamo traces the caller: True, because it reads the Python function below instead of calling it

torch.compiler.is_dynamo_compiling() returns the same, but has a Python frame.
"""

from __future__ import annotations

import ctypes
import functools
from types import FunctionType

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable

_made: Callable[[], bool] | None = None


def function(library: ctypes.PyDLL) -> Callable[[], bool]:
    """Returns in_dynamo, always the same object."""
    global _made
    if _made is None:
        _made = _make(ctypes.cast(library.memoir_python_in_dynamo, ctypes.c_void_p))
    return _made


def _make(in_c: ctypes.c_void_p) -> Callable[[], bool]:
    def in_dynamo() -> bool:
        return True

    if not _set_vectorcall(in_dynamo, in_c):
        import torch

        of_torch: Callable[[], bool] = torch.compiler.is_dynamo_compiling
        return of_torch
    return functools.partial(in_dynamo)  # Python 3.11 would enter the Python function itself without looking at its vectorcall


def _set_vectorcall(python_function: Callable[[], bool], in_c: ctypes.c_void_p) -> bool:
    python = ctypes.pythonapi
    if hasattr(python, "PyFunction_SetVectorcall"):  # from Python 3.12 on
        python.PyFunction_SetVectorcall(ctypes.py_object(python_function), in_c)
        return True
    default = ctypes.cast(python._PyFunction_Vectorcall, ctypes.c_void_p).value
    fields = (ctypes.c_void_p * (FunctionType.__basicsize__ // ctypes.sizeof(ctypes.c_void_p))).from_address(id(python_function))
    if list(fields).count(default) != 1:
        return False
    fields[list(fields).index(default)] = in_c.value
    return True
