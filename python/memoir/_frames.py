"""Where the interpreter keeps the frames of a thread, so that calls of module.forward() past the module are seen (tracker/modules/direct_calls.h).

Offsets in bytes, of CPython's own headers; the same in all releases of a minor version. Elsewhere frames are not looked at.
"""

import ctypes
import sys
import sysconfig
import types

# (frame in the thread's state, the same in what that leads to, or -1), (code, previous, owner or -1, first local) in a frame, name in code
_LAYOUTS = {
    (3, 10): ((24, -1), (32, 24, -1, 352), 112),
    (3, 11): ((56, 8), (32, 48, 69, 72), 120),
    (3, 12): ((56, 0), (0, 8, 70, 72), 120),
    (3, 13): ((72, -1), (0, 8, 70, 72), 120),
}
_TYPE, _CELL_CONTENT = 8, 16

_POINTERS = ("thread_state", "forward", "caller0", "caller1", "caller2", "caller3", "cell")
_OFFSETS = ("frame", "through", "code", "previous", "owner", "first_local", "name", "type", "cell_content")


class Layout(ctypes.Structure):
    """struct memoir_python_frames."""

    _fields_ = [(name, ctypes.c_void_p) for name in _POINTERS] + [(name, ctypes.c_int) for name in _OFFSETS]


def layout(call_impl, slow_forward):
    """A Layout and what must live as long as it is in use; or None. The arguments are torch's functions that call forward."""
    known = _LAYOUTS.get(sys.version_info[:2])
    plain = not hasattr(sys, "gettotalrefcount") and not sysconfig.get_config_var("Py_GIL_DISABLED") and sys.maxsize == 2**63 - 1
    if known is None or not plain or sys.implementation.name != "cpython":
        return None
    (frame, through), inside, name = known
    callers = [function.__code__ for function in (call_impl, slow_forward)]
    callers += [code for code in call_impl.__code__.co_consts if isinstance(code, types.CodeType)]  # what runs forward between hooks
    if len(callers) > 4:
        return None
    thread_state = ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p).value
    objects = [sys.intern("forward"), *callers, *[None] * (4 - len(callers)), types.CellType]
    return Layout(thread_state, *(None if o is None else id(o) for o in objects), frame, through, *inside, name, _TYPE, _CELL_CONTENT), objects
