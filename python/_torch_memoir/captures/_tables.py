"""A table of a capture, as Arrow data that pandas, polars, DuckDB and pyarrow read without a copy.

`memoir export arrow` writes it into an anonymous file in memory. libmemoir_arrow.so (tools/arrow) maps this file and makes the structs of Arrow's C
interface from it, so no other package is needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import os
import threading

from _torch_memoir import _library
from _torch_memoir._lazy import Lazy
from _torch_memoir.captures import _program

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import typing
    from collections.abc import Callable

    import pandas
    import polars
    import pyarrow
else:
    globals().update({name: Lazy(name) for name in ("typing", "pandas", "polars", "pyarrow")})

_STREAM, _SCHEMA = 0, 1


class Table:
    """One table of a capture. Any reader of Arrow's PyCapsule interface takes it.

        polars.DataFrame(capture.blocks)
        pyarrow.table(capture.blocks)
        blocks = capture.blocks; duckdb.sql("SELECT category, sum(bytes) FROM blocks GROUP BY category")

    The table is read from the capture when its rows are first used, and stays in memory as long as this object.
    docs/exports.md has its columns.
    """

    def __init__(self, name: str, write: Callable[[int], None]) -> None:
        """`write` writes the table to a descriptor as an Arrow stream."""
        self.name = name
        self._write = write
        self._file: io.FileIO | None = None
        self._reading = threading.Lock()

    def __reduce__(self) -> typing.NoReturn:
        raise TypeError(f"a memoir table cannot be copied; copy what to_arrow(), to_pandas() or to_polars() gives: {self.name}")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows, for readers of Arrow's PyCapsule interface. `requested_schema` is ignored, which the interface allows."""
        return self._capsule(_STREAM)

    def __arrow_c_schema__(self) -> object:
        """The columns, for readers of Arrow's PyCapsule interface."""
        return self._capsule(_SCHEMA)

    def __len__(self) -> int:
        message = ctypes.create_string_buffer(1024)
        rows = _arrow().memoir_arrow_rows(self._descriptor(), message, len(message))
        if rows < 0:
            raise _program.CaptureError(f"{self.name}: {message.value.decode(errors='replace')}")
        return int(rows)

    def __bool__(self) -> bool:
        return True  # `if capture.events` reads no rows

    def __repr__(self) -> str:
        rows = f"{len(self)} rows" if self._file is not None else "not read yet"
        return f"<memoir table {self.name}: {rows}; to_pandas(), to_polars() or to_arrow() shows them>"

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas.DataFrame; also needs pyarrow. Integers that can be missing stay integers (pandas' Int64)."""
        arrow = self._library("pyarrow")
        exact = {arrow.int64(): self._library("pandas").Int64Dtype(), arrow.uint64(): self._library("pandas").UInt64Dtype()}
        return self.to_arrow().to_pandas(types_mapper=exact.get)

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars.DataFrame."""
        return self._library("polars").DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """The table as a pyarrow.Table."""
        return self._library("pyarrow").table(self)

    def _library(self, name: str) -> typing.Any:
        try:
            return __import__(name)
        except ModuleNotFoundError as problem:
            if problem.name != name:
                raise
            raise ImportError(f"capture.{self.name}: {name} is not installed here; pip install {name}") from None

    def _descriptor(self) -> int:
        with self._reading:
            if self._file is None:
                try:
                    file = io.FileIO(os.memfd_create(f"memoir-{self.name}"), "r+")
                except OSError as problem:
                    raise _program.CaptureError(f"{self.name}: no memory to read it into: {problem.strerror}") from None
                with contextlib.ExitStack() as unless_read:
                    unless_read.callback(file.close)
                    self._write(file.fileno())
                    unless_read.pop_all()
                self._file = file
            return self._file.fileno()

    def _capsule(self, kind: int) -> object:
        library = _arrow()
        file = self._descriptor()
        struct = library.memoir_arrow_allocate(kind)
        if not struct:
            raise MemoryError
        message = ctypes.create_string_buffer(1024)
        fill = library.memoir_arrow_schema if kind == _SCHEMA else library.memoir_arrow_stream
        if fill(file, struct, message, len(message)) != 0:
            library.memoir_arrow_release(struct, kind)
            raise _program.CaptureError(f"{self.name}: {message.value.decode(errors='replace')}")
        release = library.memoir_arrow_release_schema_capsule if kind == _SCHEMA else library.memoir_arrow_release_stream_capsule
        # The name belongs to the library, because a capsule may be destroyed after all other objects of the process.
        capsule: object = _python().PyCapsule_New(struct, library.memoir_arrow_capsule_name(kind), ctypes.cast(release, ctypes.c_void_p))
        return capsule


@functools.cache
def _python() -> ctypes.PyDLL:
    """A PyDLL of the interpreter. Not ctypes.pythonapi, which is shared: signatures declared there change it for the whole process."""
    python = ctypes.PyDLL(None)
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    python.PyCapsule_New.restype = ctypes.py_object
    return python


@functools.cache
def _arrow() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(os.path.join(_library.folder(), "libmemoir_arrow.so"))
    except (OSError, _library.NoTracker) as problem:
        raise _program.CaptureError(f"no tables: {problem}; install Memoir again") from None
    library.memoir_arrow_allocate.argtypes = [ctypes.c_int]
    library.memoir_arrow_allocate.restype = ctypes.c_void_p
    library.memoir_arrow_release.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.memoir_arrow_release.restype = None
    for fill in (library.memoir_arrow_stream, library.memoir_arrow_schema):
        fill.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_arrow_rows.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    library.memoir_arrow_rows.restype = ctypes.c_int64
    library.memoir_arrow_capsule_name.argtypes = [ctypes.c_int]
    library.memoir_arrow_capsule_name.restype = ctypes.c_void_p
    library.memoir_arrow_setup.argtypes = [ctypes.c_void_p]
    library.memoir_arrow_setup.restype = None
    library.memoir_arrow_setup(ctypes.cast(_python().PyCapsule_GetPointer, ctypes.c_void_p))
    return library
