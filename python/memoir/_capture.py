"""A capture in Python: its tables, and what the verbs of the command line say of it."""

from __future__ import annotations

import os

from memoir import _program, _tables

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    import pathlib
    import typing

    Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

TABLES = ("events", "blocks", "operators", "modules", "steps", "ranks", "summary", "calls")


def load(path: Path) -> Capture:
    """Open a capture, the folder that `memoir run` or `memoir.start` wrote, for its tables and for what Memoir says of it.

        capture = memoir.load("run7")
        capture.blocks.to_pandas().groupby("category").bytes.sum()
        capture.show(by="module", at="peak")
        capture.select(steps="10:12").events.to_polars()

    Everything is read when it is asked for, by the program `memoir` that belongs to this package; torch is not imported.
    Raises `memoir.CaptureError`, which says what to do, where there is no capture at `path`.
    """
    capture = Capture(path)
    if not os.path.exists(capture.path) or (os.path.isdir(capture.path) and not _has_parts(capture.path)):
        capture.show()  # whose error says what is wrong
    return capture


def _has_parts(folder: str) -> bool:
    try:
        return any(name.endswith(".memoir") for name in os.listdir(folder))
    except OSError:
        return False


class Capture:
    """A capture on disk: `memoir.load` and `memoir.stop` return one.

    Tables (`events`, `blocks`, `operators`, `modules`, `steps`, `ranks`, `summary`, `calls`) have the columns of `memoir export sqlite`.
    Options of methods are those of the command line, by the same words: `steps="10:12"` is --steps 10:12, `from_="20ms"` is --from 20ms.
    """

    def __init__(self, path: Path, selection: dict[str, object] | None = None) -> None:
        self.path = os.fsdecode(path)
        self._selection = dict(selection or {})
        self._read: dict[str, _tables.Table] = {}
        self._warned: set[str] = set()

    def select(self, **selection: object) -> Capture:
        """The part of the capture that `steps`, `from_`, `to`, `range`, `device`, `rank` and `run` name, as `memoir export` and `memoir show` take them.

        What a verb cannot be limited to raises `memoir.CaptureError`: it is never passed over.
        """
        return Capture(self.path, {**self._selection, **selection})

    @property
    def events(self) -> _tables.Table:
        """What happened to memory, in the order of time: a row for each allocation and deallocation."""
        return self._table("events")

    @property
    def blocks(self) -> _tables.Table:
        """A row for each block with its whole life, its category, module, operator and line."""
        return self._table("blocks")

    @property
    def operators(self) -> _tables.Table:
        """A row for each range, and each call of a module, in the order of their begins."""
        return self._table("operators")

    @property
    def modules(self) -> _tables.Table:
        """A row for each module that something belongs to."""
        return self._table("modules")

    @property
    def steps(self) -> _tables.Table:
        """A row for each step, by what counts as one in its process."""
        return self._table("steps")

    @property
    def ranks(self) -> _tables.Table:
        """A row for each process."""
        return self._table("ranks")

    @property
    def summary(self) -> _tables.Table:
        """A row for each device of each process: the peak, what is left at the end, what was allocated."""
        return self._table("summary")

    @property
    def calls(self) -> _tables.Table:
        """A row for each launch of a CUDA kernel, or other call of CUDA."""
        return self._table("calls")

    def show(self, *, by: str | None = None, at: str | None = None, over: str | None = None, tree: bool = False, **options: object) -> dict[str, typing.Any]:
        """What `memoir show --json` says (docs/json.md has the keys), of the part that is selected.

        capture.show(by="module", at="peak")["devices"][0]["modules"]
        """
        return self._json(["show", "--json"], {"by": by, "at": at, "over": over, "tree": tree, **options})

    def check(self, what: str | None = None, *, fail_if: str | list[str] | None = None, **options: object) -> dict[str, typing.Any]:
        """What `memoir check --json` says: `found` is whether there is a finding, or a condition of `fail_if` is true.

        what: "oom", "frag" or "balance" (default: all)
        """
        return self._json(["check", "--json", *([what] if what else [])], {"fail_if": fail_if, **options})

    def explain(self, subject: str, **options: object) -> dict[str, typing.Any]:
        """What `memoir explain --json` says of a tensor, an address or a parameter."""
        return self._json(["explain", "--json"], options, subject)

    def report(self, output: Path | None = None, **options: object) -> pathlib.Path:
        """Write the report, one HTML file (default: the capture's name with .html), and return its path."""
        import pathlib

        target = os.path.basename(os.path.abspath(self.path)) + ".html" if output is None else os.fsdecode(output)
        self._run(["report"], {"output": target, **self._selection, **options})
        return pathlib.Path(target)

    def export(self, what: str, output: Path, **options: object) -> pathlib.Path:
        """Write what `memoir export WHAT` writes into the file or folder `output`, and return its path."""
        import pathlib

        self._run(["export", what], {"output": output, **self._selection, **options})
        return pathlib.Path(os.fsdecode(output))

    def __repr__(self) -> str:
        selected = "".join(f", {name}={value!r}" for name, value in self._selection.items())
        return f"<memoir capture {self.path!r}{selected}: memoir show {self.path}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the report's overview."""
        from memoir import _notebook

        try:
            return _notebook.overview(self.path, self.show(by="category"), self.show(by="module"), self.check())
        except _program.CaptureError as problem:
            return _notebook.problem(self.path, str(problem))

    def _table(self, name: str) -> _tables.Table:
        if name not in self._read:
            options = {"tables": name, **self._selection}
            self._read[name] = _tables.Table(name, lambda file: self._run_into(file, options))
        return self._read[name]

    def _run_into(self, file: int, options: dict[str, object]) -> None:
        self._run(["export", "arrow"], options, stdout=file)

    def _json(self, verb: list[str], options: dict[str, object], *after: str) -> dict[str, typing.Any]:
        import json

        found: dict[str, typing.Any] = json.loads(self._run(verb, {**self._selection, **options}, *after))
        return found

    def _run(self, verb: list[str], options: dict[str, object], *after: str, stdout: int | None = None) -> bytes:
        output, said = _program.run(verb, options, [self.path, *after], stdout)
        for line in said:
            self._warn(line)
        return output

    def _warn(self, line: str) -> None:
        """What the program says beside its output (losses, damage): each line once."""
        if line in self._warned:
            return
        self._warned.add(line)
        import warnings

        warnings.warn(f"{self.path}: {line}", UserWarning, stacklevel=4)
