"""Finds and loads the shared libraries that record: the interposer, then the tracker built for this torch."""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import re
import sys


class NoTracker(RuntimeError):
    """Nothing here can record this torch; the message says what to do."""


def folder() -> str:
    """The folder of the shared libraries: ../ in an installed tree, _tree/lib/memoir inside a wheel."""
    here = os.path.dirname(os.path.abspath(__file__))
    for candidate in (os.path.join(here, "_tree", "lib", "memoir"), os.path.dirname(os.path.dirname(here))):
        if os.path.exists(os.path.join(candidate, "libmemoir_interpose.so")):
            return candidate
    raise NoTracker(f"libmemoir_interpose.so is missing beside {here}; install Memoir again")


def program() -> str:
    """The program `memoir`: of the tree inside a wheel, or of the installed tree whose lib/memoir/python this is."""
    here = os.path.dirname(os.path.abspath(__file__))
    for tree in (os.path.join(here, "_tree"), os.path.join(here, *[os.pardir] * 4)):
        path = os.path.join(tree, "bin", "memoir")
        if os.path.exists(path):
            return path
    raise NoTracker(f"no bin/memoir beside {here}; install Memoir again")


def trackers() -> dict[str, str]:
    """Torch minors that this installation has trackers for: {"2.11": path}."""
    paths = glob.glob(os.path.join(glob.escape(folder()), "libmemoir_tracker-torch*.so"))
    minors = ((re.search(r"torch(\d.*)\.so$", path), path) for path in paths)
    return {minor.group(1): path for minor, path in minors if minor is not None}


def minor_of(torch_version: str) -> str:
    """What its tracker is named after: "2.11" of "2.11.0+cu130". The C++ interface of a nightly, or of a build of unreleased sources, is its own: all of it."""
    release = re.match(r"(\d+\.\d+)\.\d+(rc\d+|\.post\d+)?(\+.*)?$", torch_version)
    return release.group(1) if release is not None else torch_version


def _in_order(minor: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", minor)]


def load(torch_version: str) -> ctypes.CDLL:
    """The tracker for `torch_version` ("2.11.0+cu130"), with its functions declared."""
    minor = minor_of(torch_version)
    known = trackers()
    if minor not in known:
        have = ", ".join(sorted(known, key=_in_order)) or "none"
        raise NoTracker(f"no tracker for torch {minor} (this Memoir has: {have}); in Memoir's sources: {sys.executable} -m pip install .")
    # The tracker names the interposer by its soname only; loaded first by path, or preloaded, it is found. One copy in a process.
    interposer = os.path.join(folder(), "libmemoir_interpose.so")
    ctypes.CDLL(interposer)
    # By this NVTX finds who follows its ranges, at the first one of each library. A profiler that is there has set it.
    os.environ.setdefault("NVTX_INJECTION64_PATH", interposer)
    try:
        return _tracker(known[minor])
    except OSError:
        others = _other_interposers()
        if not others:
            raise
        raise NoTracker(f"another version of Memoir is in this process already ({', '.join(others)}); use one of the two: {folder()} is this one") from None


@functools.cache  # functions of a library object live as long as it does: one for all recordings
def _tracker(path: str) -> ctypes.CDLL:
    return _declare(ctypes.CDLL(path))


def _other_interposers() -> list[str]:
    """Interposers that another installation has loaded, by LD_PRELOAD or an import of its own."""
    with open("/proc/self/maps") as maps:
        loaded = {line.split(None, 5)[5].rstrip("\n") for line in maps if "/libmemoir_interpose" in line}
    return sorted(path for path in loaded if os.path.realpath(os.path.dirname(path)) != os.path.realpath(folder()))


def load_modules(torch_version: str) -> ctypes.PyDLL:
    """The same library for functions that are called with the GIL held; load() was called before."""
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
