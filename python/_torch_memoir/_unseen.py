"""Hides Memoir's work from the program's profile and trace functions (sys.setprofile, sys.settrace, sys.monitoring).

    state = thread()
    pause(state)
    try:
        ...
    finally:
        resume(state)

Such functions do not see these calls, which go through ctypes. Python 3.10 has no way to pause them: they see all work there.
"""

from __future__ import annotations

import ctypes

_python = ctypes.PyDLL(None)
thread = _python["PyThreadState_Get"]
thread.restype = ctypes.c_void_p
_can_pause = hasattr(_python, "PyThreadState_EnterTracing")
pause = _python["PyThreadState_EnterTracing" if _can_pause else "Py_IsInitialized"]
resume = _python["PyThreadState_LeaveTracing" if _can_pause else "Py_IsInitialized"]
for _function in (pause, resume):
    _function.argtypes = [ctypes.c_void_p]
    _function.restype = None if _can_pause else ctypes.c_int
