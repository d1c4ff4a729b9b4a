"""Records calls of Python functions (`stacks="calls"`). Uses each thread's profile function before Python 3.12. From 3.12 on, it uses sys.monitoring, where it
takes one of the six tool ids, and leaves profile functions alone."""

from __future__ import annotations

import ctypes
import sys

from _torch_memoir import _builtin

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# The library's callbacks, and the events of sys.monitoring that call each. A callback returns None, which keeps the event on for this code location.
_EVENTS = {
    "memoir_python_call": ("PY_START", "PY_RESUME", "PY_THROW"),
    "memoir_python_return": ("PY_RETURN", "PY_YIELD", "PY_UNWIND"),
    "memoir_python_builtin_call": ("CALL",),
    "memoir_python_builtin_return": ("C_RETURN", "C_RAISE"),
}
_FREE_TOOLS = 3, 4, 5, 2, 1  # ids without a recommended use come first; the debugger's id is not used

_library: ctypes.PyDLL | None = None  # None: start was not called since the last stop
_tool: int | None = None  # our tool id of sys.monitoring
_callbacks: dict[str, Any] = {}


def is_requested() -> bool:
    """Whether start was called since the last stop, also if it failed."""
    return _library is not None


def start(library: ctypes.PyDLL) -> str:
    """Starts recording calls. Returns the reason if it can't, else ""."""
    global _library
    _library = library
    monitoring: Any = getattr(sys, "monitoring", None)
    problem = ctypes.create_string_buffer(256)
    function = library.memoir_python_trace_calls if monitoring is None else library.memoir_python_monitor_calls
    if function(problem, len(problem)) != 0:
        return problem.value.decode(errors="replace")
    return "" if monitoring is None else _monitor(library, monitoring)


def stop() -> None:
    global _library, _tool
    if _library is None:
        return
    _library.memoir_python_leave_calls()
    _library = None
    if _tool is None:
        return
    monitoring: Any = getattr(sys, "monitoring", None)
    monitoring.set_events(_tool, 0)
    for _, event in _events(monitoring):
        monitoring.register_callback(_tool, event, None)
    monitoring.free_tool_id(_tool)
    _tool = None


def _events(monitoring: Any) -> Iterator[tuple[str, int]]:
    for function, names in _EVENTS.items():
        for name in names:
            yield function, getattr(monitoring.events, name)


def _monitor(library: ctypes.PyDLL, monitoring: Any) -> str:
    global _tool
    _tool = next((tool for tool in _FREE_TOOLS if monitoring.get_tool(tool) is None), None)
    if _tool is None:
        taken = ", ".join(str(monitoring.get_tool(tool)) for tool in _FREE_TOOLS)
        return f"other tools have taken all places of sys.monitoring: {taken}"
    monitoring.use_tool_id(_tool, "memoir")
    wanted = 0
    for function, event in _events(monitoring):
        monitoring.register_callback(_tool, event, _callback(library, function))
        if function != "memoir_python_builtin_return":  # its events come with CALL
            wanted |= event
    monitoring.set_events(_tool, wanted)
    return ""


def _callback(library: ctypes.PyDLL, function: str) -> Any:
    if function not in _callbacks:
        _callbacks[function] = _builtin.builtin(getattr(library, function), _builtin.METH_FASTCALL)
    return _callbacks[function]
