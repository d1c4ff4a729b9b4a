"""Finds and loads the shared libraries that record: the interposer, then the tracker built for this torch."""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import re
import shlex
import sys


class NoTracker(RuntimeError):
    """No tracker here can record this torch. The message names the fix."""


def folder() -> str:
    """The folder of the shared libraries: ../.. in an installed tree, ../memoir/_tree/lib/memoir in a wheel."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.dirname(here)
    for candidate in (os.path.join(beside, "memoir", "_tree", "lib", "memoir"), os.path.dirname(beside)):
        if os.path.exists(os.path.join(candidate, "libmemoir_interpose.so")):
            return candidate
    raise NoTracker(f"libmemoir_interpose.so is missing beside {here}; install Memoir again")


def program() -> str:
    """The path of the program `memoir`: in the tree inside a wheel, or in the installed tree whose lib/memoir/python has this file."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for tree in (os.path.join(beside, "memoir", "_tree"), os.path.join(beside, *[os.pardir] * 3)):
        path = os.path.join(tree, "bin", "memoir")
        if os.path.exists(path):
            return path
    raise NoTracker(f"no bin/memoir beside {beside}; install Memoir again")


def trackers() -> dict[str, str]:
    """The minor versions of torch that have a tracker here: {"2.11": path}."""
    paths = glob.glob(os.path.join(glob.escape(folder()), "libmemoir_tracker-torch*.so"))
    minors = ((re.search(r"torch(\d.*)\.so$", path), path) for path in paths)
    return {minor.group(1): path for minor, path in minors if minor is not None}


def minor_of(torch_version: str) -> str:
    """The name of the tracker for a version of torch: "2.11" for "2.11.0+cu130". A nightly, or a build of unreleased sources, has its own C++ interface, so its name is
    the whole version."""
    release = re.match(r"(\d+\.\d+)\.\d+(rc\d+|\.post\d+)?(\+.*)?$", torch_version)
    return release.group(1) if release is not None else torch_version


def _in_order(minor: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", minor)]


def load(torch_version: str) -> ctypes.CDLL:
    """Loads the tracker for `torch_version` ("2.11.0+cu130") and declares its functions."""
    minor = minor_of(torch_version)
    known = trackers()
    if minor not in known:
        have = ", ".join(sorted(known, key=_in_order)) or "none"
        raise NoTracker(f"no tracker for torch {minor} (this Memoir has: {have}); in Memoir's sources: {shlex.quote(sys.executable)} -m pip install .")
    # The tracker finds the loaded interposer by its soname: LD_PRELOAD has loaded it, or the next lines load it by its path. So a process has one copy.
    interposer = os.path.join(folder(), "libmemoir_interpose.so")
    ctypes.CDLL(interposer)
    # This variable names the library that receives NVTX ranges. Each library that uses NVTX reads it at its first range. A profiler may have set it already.
    os.environ.setdefault("NVTX_INJECTION64_PATH", interposer)
    try:
        return _tracker(known[minor])
    except OSError:
        others = _other_interposers()
        if not others:
            raise
        raise NoTracker(f"another version of Memoir is in this process already ({', '.join(others)}); use one of the two: {folder()} is this one") from None


@functools.cache  # one object per library, for all recordings: functions of a library object live as long as it does
def _tracker(path: str) -> ctypes.CDLL:
    return _declare(ctypes.CDLL(path))


def _other_interposers() -> list[str]:
    """Interposers of other installations in this process, loaded by LD_PRELOAD or by an import."""
    with open("/proc/self/maps") as maps:
        loaded = {line.split(None, 5)[5].rstrip("\n") for line in maps if "/libmemoir_interpose" in line}
    return sorted(path for path in loaded if os.path.realpath(os.path.dirname(path)) != os.path.realpath(folder()))


def load_modules(torch_version: str) -> ctypes.PyDLL:
    """The tracker as a library whose functions are called with the GIL held. Needs load() first."""
    return _tracker_of_modules(trackers()[minor_of(torch_version)])


@functools.cache
def _tracker_of_modules(path: str) -> ctypes.PyDLL:
    library = ctypes.PyDLL(path)
    library.memoir_define_module.argtypes = [ctypes.c_char_p] * 3
    library.memoir_define_module.restype = ctypes.c_uint32
    library.memoir_set_module.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
    library.memoir_forget_module.argtypes = [ctypes.c_uint64]
    library.memoir_forget_module.restype = None
    library.memoir_look_at_module.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
    library.memoir_look_at_module.restype = None
    library.memoir_set_parameter.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
    library.memoir_forget_parameter.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
    library.memoir_forget_parameter.restype = None
    library.memoir_optimizer_holds.argtypes = [
        ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint32), ctypes.c_int]
    library.memoir_optimizer_holds.restype = None
    for calls in (library.memoir_python_trace_calls, library.memoir_python_monitor_calls):
        calls.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_python_leave_calls.restype = None
    library.memoir_mark.argtypes = [ctypes.c_char_p]
    library.memoir_mark.restype = None
    library.memoir_python_saved.argtypes = [ctypes.c_void_p]
    library.memoir_python_saved.restype = ctypes.c_uint64
    library.memoir_python_buckets.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
    library.memoir_python_buckets.restype = ctypes.c_size_t
    library.memoir_parts.argtypes = []
    library.memoir_parts.restype = ctypes.c_uint64
    library.memoir_python_tensor_layout.argtypes = [ctypes.c_size_t]
    library.memoir_python_tensor_layout.restype = None
    for function in (library.memoir_python_setup, library.memoir_python_look_at_frames):
        function.argtypes = [ctypes.c_void_p]
        function.restype = None
    return library


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    library.memoir_start.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_stop.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    for function in (library.memoir_mark, library.memoir_uncaught):
        function.argtypes = [ctypes.c_char_p]
        function.restype = None
    library.memoir_step.argtypes = [ctypes.c_uint64]
    library.memoir_step.restype = None
    library.memoir_flush.restype = None
    library.memoir_snapshot.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_pause.argtypes = [ctypes.c_int]
    library.memoir_output.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_watch.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_begin.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_python_compiler.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    library.memoir_python_compiled.argtypes = [ctypes.c_char_p]
    library.memoir_rank.argtypes = [ctypes.c_uint32, ctypes.c_uint32]
    numbers = ctypes.POINTER(ctypes.c_uint32)
    library.memoir_coordinates.argtypes = [ctypes.POINTER(ctypes.c_char_p), numbers, numbers, ctypes.c_size_t]
    for function in (library.memoir_forked, library.memoir_leave, library.memoir_rank, library.memoir_coordinates,
                     library.memoir_cuda_is_ready, library.memoir_python_compiler, library.memoir_python_compiled):
        function.restype = None
    return library
