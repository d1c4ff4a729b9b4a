"""The fixture memoir_capture: records a function or a script in a separate process, for tests that read the capture."""

from __future__ import annotations

import pathlib
import pickle
import sys
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from _torch_memoir.captures import _capture
from _torch_memoir.pytest_plugin import _child, _mark, _paths

if TYPE_CHECKING:
    from collections.abc import Callable


class Record(Protocol):
    """The type of the fixture memoir_capture."""

    def __call__(self, what: Callable[..., object] | str | pathlib.Path, *arguments: Any, device: str | None = None, check: bool = True, timeout: float | None = None) -> _capture.Capture:
        """Run `what` under `memoir run` in a separate process, and return its capture, as memoir.load does.

        what: a function of a module, which gets `arguments`, or the path of a script, relative to the test's file, which gets them as text
        device: "sim:h100", "sim:h100:40GiB": a simulated GPU; "cuda", "cpu", None: the machine's devices
        check: fail the test if the process ends with an error
        timeout: seconds after which the process is ended, and the test fails
        """


@pytest.fixture
def memoir_capture(request: pytest.FixtureRequest) -> Record:
    """Run a function or a script under `memoir run`, and get its capture (docs/ci.md)."""
    count = 0

    def record(what: Callable[..., object] | str | pathlib.Path, *arguments: Any, device: str | None = None, check: bool = True, timeout: float | None = None) -> _capture.Capture:
        nonlocal count
        count += 1
        config, name = request.config, f"{request.node.nodeid}#{count}"
        try:
            options = _mark.budget({"device": device}, request.path, "").simulate
            folder = _paths.scratch(config, name)
            command = _script(request, what, arguments) if isinstance(what, (str, pathlib.Path)) else _function(folder, what, arguments)
            capture = _paths.capture(config, name)
            code, output = _child.under_memoir(config, capture, options, command, folder / "output.txt", timeout)
        except (_mark.MarkError, _paths.PathConflict, _child.RecordingError) as problem:
            pytest.fail(f"memoir_capture: {problem}", pytrace=False)
        except _child.TimeoutExpired:
            pytest.fail(f"memoir_capture: {_named(what)} did not end within {timeout} s", pytrace=False)
        ended = _child.ChildResult(capture, [], code, output)
        if check and code:
            pytest.fail(f"memoir_capture: {_named(what)} {ended.end}:\n{ended.tail}", pytrace=False)
        if not capture.exists():
            pytest.fail(f"memoir_capture: there is no capture of {_named(what)}:\n{ended.memoir_lines}", pytrace=False)
        return _capture.load(capture)

    return record


def _named(what: object) -> str:
    return str(getattr(what, "__qualname__", what))


def _script(request: pytest.FixtureRequest, what: str | pathlib.Path, arguments: tuple[Any, ...]) -> list[str]:
    path = request.path.parent / what
    if not path.is_file():
        raise _mark.MarkError(f"there is no script {path}")
    return [sys.executable, str(path), *map(str, arguments)]


def _function(folder: pathlib.Path, what: Callable[..., object], arguments: tuple[Any, ...]) -> list[str]:
    name, module = getattr(what, "__qualname__", ""), sys.modules.get(getattr(what, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or file is None or not name or "<" in name:
        raise _mark.MarkError(f"{what!r} has no name in a module, by which another process could find it; define it at the module's level")
    try:
        pickled = pickle.dumps(arguments)
    except Exception as problem:
        raise _mark.MarkError(f"the arguments of {name} cannot be handed to another process: {problem}") from None
    (folder / "call.pickle").write_bytes(pickle.dumps({"path": sys.path, "module": module.__name__, "file": file, "function": name, "arguments": pickled}))
    return [sys.executable, str(pathlib.Path(__file__).with_name("call_child.py")), str(folder / "call.pickle")]
