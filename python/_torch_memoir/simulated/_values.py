"""Loads the library that computes values of small tensors on the simulated GPU, in each process with that device, recorded or not."""

from __future__ import annotations

import ctypes
import os

_NOT_SIMULATED = 1
_OFF = {"0", "false", "off", "no"}


def is_requested() -> bool:
    """Whether this process has the simulated GPU and computing values is not switched off."""
    return hasattr(ctypes.CDLL(None), "memoir_simulated_is_known") and os.environ.get("MEMOIR_SIM_VALUES", "").lower() not in _OFF


def start(torch_version: str) -> None:
    """Called at the end of torch's import, if is_requested(). Raises if values cannot be computed."""
    from _torch_memoir import _library

    minor = _library.minor_of(torch_version)
    path = os.path.join(_library.folder(), f"libmemoir_values-torch{minor}.so")
    if not os.path.exists(path):
        raise RuntimeError(f"this Memoir has no library for values with torch {minor}")
    ctypes.CDLL(os.path.join(_library.folder(), "libmemoir_interpose.so"))
    message = ctypes.create_string_buffer(1024)
    library = ctypes.CDLL(path)
    library.memoir_values_start.argtypes = [ctypes.c_char_p, ctypes.c_ulonglong]
    if library.memoir_values_start(message, len(message)) > _NOT_SIMULATED:
        raise RuntimeError(message.value.decode(errors="replace"))
