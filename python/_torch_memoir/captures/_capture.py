"""A capture in Python: its tables, and the answers of the commands that read it."""

from __future__ import annotations

import os
import pathlib

from _torch_memoir.captures import _answer, _program, _tables

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Time = str | int | float  # "20ms"; a number: seconds


def load(path: Path) -> Capture:
    """Open a capture: the folder that `memoir run` or `memoir.start` wrote.

        capture = memoir.load("run7")
        capture                                     # in a notebook: the peak, its blocks, and the findings of `memoir check`
        capture.blocks.to_pandas().groupby("category").bytes.sum()
        capture.select(steps="10:12").events.to_polars()
        capture.show(by="module", at="peak")

    The program `memoir` of this package reads the capture when a table or an answer is requested; torch is not imported.
    Raises `memoir.CaptureError`, whose message names the fix, if there is no capture at `path`.
    """
    capture = Capture(path)
    if not _looks_like_one(capture.path):
        capture.show()  # raises with the reason
    return capture


def _looks_like_one(path: str) -> bool:
    try:
        return (os.path.isfile(path) and path.endswith(".memoir")) or any(name.endswith(".memoir") for name in os.listdir(path))
    except OSError:
        return False


class Capture:
    """A capture on disk: `memoir.load` and `memoir.stop` return one.

    Tables (`events`, `blocks`, `operators`, `modules`, `steps`, `ranks`, `summary`, `calls`) have the columns of docs/exports.md.
    Methods take the options of the command line under the same names: `steps="10:12"` is --steps 10:12, `from_="20ms"` is --from 20ms.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fsdecode(path)
        self._selection: dict[str, object] = {}
        self._read: dict[str, _tables.Table] = {}
        self._warned: set[str] = set()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_read": {}, "_warned": set()}  # a copy reads its own tables

    def select(
        self,
        *,
        from_: Time | None = None,
        to: Time | None = None,
        steps: str | None = None,
        range: str | None = None,
        module: str | None = None,
        min_size: int | str | None = None,
        device: str | None = None,
        rank: int | None = None,
        run: int | str | None = None,
    ) -> Capture:
        """A part of the capture, selected by the options of `memoir show` and `memoir export`; earlier selections stay in force.

            capture.select(steps="10:12", device="cuda:0").summary

        A command that cannot be limited to the selection raises `memoir.CaptureError`. docs/python.md has the options that limit tables.
        """
        asked = {name: value for name, value in locals().items() if name != "self" and value is not None}
        part = Capture(self.path)
        part._selection = {**self._selection, **asked}
        part._warned = self._warned
        return part

    @property
    def events(self) -> _tables.Table:
        """One row per allocation and deallocation, in the order of time."""
        return self._table("events")

    @property
    def blocks(self) -> _tables.Table:
        """One row per block, with its lifetime, category, module, operator and line."""
        return self._table("blocks")

    @property
    def operators(self) -> _tables.Table:
        """One row per range and per call of a module, in the order of their begins."""
        return self._table("operators")

    @property
    def modules(self) -> _tables.Table:
        """One row per module that a block or an operator belongs to."""
        return self._table("modules")

    @property
    def steps(self) -> _tables.Table:
        """One row per step, by the kind of step that the process has."""
        return self._table("steps")

    @property
    def ranks(self) -> _tables.Table:
        """One row per process."""
        return self._table("ranks")

    @property
    def summary(self) -> _tables.Table:
        """One row per device of each process: its peak, the bytes live at the end, the bytes allocated."""
        return self._table("summary")

    @property
    def calls(self) -> _tables.Table:
        """One row per launch of a CUDA kernel, or other call of CUDA."""
        return self._table("calls")

    def show(self, *, by: str | None = None, at: Time | None = None, over: str | None = None, tree: bool = False, **options: object) -> _answer.Answer:
        """The answer of `memoir show` for the selected part.

            capture.show(by="module", at="peak").devices[0].modules
        """
        return self._answer(["show"], [], {"by": by, "at": at, "over": over, "tree": tree, **options})

    def check(self, *what: str, fail_if: str | list[str] | None = None, **options: object) -> _answer.Answer:
        """The findings of `memoir check`. `found` is true if there is a finding, or if a condition of `fail_if` holds.

            assert not capture.check(fail_if="peak_allocated>20GiB").found
            capture.check("leaks").leaks

        Raises `memoir.CaptureError` if the capture does not have a figure of `fail_if`.

        what: "oom", "frag", "balance", "leaks" or "host" (default: all, each as an attribute)
        """
        options = {"fail_if": fail_if, **options}
        output, found = self._finish(["check", *what], [], {**options, "json": True})
        answer = _answer.parse(output, lambda: self._print(["check", *what], [], options))
        answer.setdefault("found", found)  # a single check has no key "found"
        return answer

    def explain(self, subject: str, **options: object) -> _answer.Answer:
        """The answer of `memoir explain` for a parameter ("fc1.weight"), an address ("0x7f12") or a call of an operator ("aten::mm#12")."""
        return self._answer(["explain"], [subject], options)

    def report(self, path: Path | None = None, **options: object) -> pathlib.Path:
        """Write the report, one HTML file, and return its path.

        path: the file (default: the capture's name with .html in the current folder; with -part.html if a part is selected)
        """
        part = "-part" if {**self._selection, **options}.keys() & {"steps", "from_", "to", "module", "min_size"} else ""
        target = os.path.basename(os.path.abspath(self.path)) + part + ".html" if path is None else os.fsdecode(path)
        self._run(["report"], [], {"output": target, **options})
        return pathlib.Path(target)

    def export(self, what: str, path: Path, **options: object) -> pathlib.Path:
        """Write the output of `memoir export WHAT` into the file or folder `path`, and return the path.

            capture.export("parquet", "blocks.parquet", tables="blocks")
        """
        self._run(["export", what], [], {"output": path, **options})
        return pathlib.Path(os.fsdecode(path))

    def __repr__(self) -> str:
        selected = "".join(f", {name}={value!r}" for name, value in self._selection.items())
        return f"<memoir capture {self.path!r}{selected}>"

    def _repr_html_(self) -> str:
        """The view in a notebook: the peak by category, and the findings of `memoir check`."""
        import html

        title = f"<div><b>memoir capture</b> <code>{html.escape(repr(self)[len('<memoir capture ') : -1])}</code></div>"
        said = []
        try:
            said.append(self._print(["show"], [], {"by": "category"}))
            if not self._selection.keys() & {"range", "module", "min_size"}:  # not every check can be limited to these
                said.append(self._print(["check"], [], {}))
        except _program.CaptureError as problem:
            said.append(str(problem))
        return title + "".join(map(_answer.preformatted, said))

    def _table(self, name: str) -> _tables.Table:
        if name not in self._read:
            self._read[name] = _tables.Table(name, lambda file: self._write_table(name, file))
        return self._read[name]

    def _write_table(self, name: str, file: int) -> None:
        self._run(["export", "arrow"], [], {"tables": name}, stdout=file)

    def _answer(self, verb: list[str], after: list[str], options: dict[str, object]) -> _answer.Answer:
        output = self._run(verb, after, {**options, "json": True})
        return _answer.parse(output, lambda: self._print(verb, after, options))

    def _print(self, verb: list[str], after: list[str], options: dict[str, object]) -> str:
        return self._run(verb, after, options).decode("utf-8", "replace")

    def _run(self, verb: list[str], after: list[str], options: dict[str, object], stdout: int | None = None) -> bytes:
        return self._finish(verb, after, options, stdout)[0]

    def _finish(self, verb: list[str], after: list[str], options: dict[str, object], stdout: int | None = None) -> tuple[bytes, bool]:
        output, said, found = _program.run(verb, {**self._selection, **options}, [self.path, *after], stdout)
        for line in said:
            if not line.startswith("wrote "):  # report() and export() return the path
                self._warn(line)
        return output, found

    def _warn(self, line: str) -> None:
        """Warns with each line of the command's standard error (losses, damage) once."""
        if line in self._warned:
            return
        self._warned.add(line)
        import sys
        import warnings

        frame, level = sys._getframe(), 1  # warns at the line that called this package, however many frames of the package are above it
        package = os.path.dirname(os.path.dirname(__file__))
        while frame.f_back is not None and frame.f_code.co_filename.startswith(os.path.join(package, "")):
            frame, level = frame.f_back, level + 1
        warnings.warn(f"{self.path}: {line}", UserWarning, stacklevel=level)
