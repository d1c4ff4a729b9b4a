"""Work of Memoir's that the program's own profile and trace functions do not see (sys.setprofile, sys.settrace, sys.monitoring).

    state = thread()
    pause(state)
    try:
        ...
    finally:
        resume(state)

These are calls by ctypes, which such functions are not told of. Python 3.10 has no way to pause them: they see all there.
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
