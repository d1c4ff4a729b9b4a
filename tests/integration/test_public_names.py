"""The package's interface: its names, their arguments and types, and the modules that `import memoir` loads."""

import subprocess
import sys

import pytest
from recording import events, run_explicit

HELP = '''
import inspect, memoir
print(inspect.signature(memoir.start).parameters == inspect.signature(memoir.session).parameters)
print([name for name in memoir.__all__ if not (inspect.getdoc(getattr(memoir, name)) or "").split("\\n\\n")[0].endswith(".")])
help(memoir.start)
'''


def test_help_shows_the_options(tree, tmp_path):
    done = run_explicit(tree, tmp_path, HELP)
    assert done.returncode == 0, done.stderr
    same, undocumented, text = done.stdout.split("\n", 2)
    assert (same, undocumented) == ("True", "[]")
    assert text.index("max_size: 'int | str | None' = None") < text.index("Record the memory of this process") < text.index("(default: 4GiB)")


HINTS = '''
import inspect, os, sys, types, typing, memoir
torch = sys.modules["torch"] = types.ModuleType("torch")  # an annotation names it, and importing it takes seconds
torch.nn = types.SimpleNamespace(Module=type("Module", (), {}))
functions = {name: getattr(memoir, name) for name in memoir.__all__ if not isinstance(getattr(memoir, name), type)}
functions |= {f"Capture.{name}": method for name, method in inspect.getmembers(memoir.Capture, inspect.isfunction) if not name.startswith("_")}
functions |= {name: method for name, method in inspect.getmembers(memoir.MemoryTracker, inspect.isfunction) if not name.startswith("_")}
hints = {name: typing.get_type_hints(function) for name, function in functions.items()} | {"": typing.get_type_hints(memoir.MemoryTracker)}
print(sorted(name for name in functions if set(inspect.signature(functions[name]).parameters) - {"self"} != set(hints[name]) - {"return"}))
print(hints["start"]["ops"] == typing.Literal["ranges", "dispatch"] | None, hints["start"]["unknown"] is typing.NoReturn,
      hints["session"]["output"] == str | bytes | os.PathLike[str] | os.PathLike[bytes] | None, hints["start_monitor"]["root_module"] is torch.nn.Module,
      hints[""]["memories_active"] == dict[int, tuple[str, float]])
'''


def test_types_are_known_at_run_time(tree, tmp_path):
    done = run_explicit(tree, tmp_path, HINTS)
    assert (done.returncode, done.stdout) == (0, "[]\nTrue True True True True\n"), done.stderr


IMPORTS = '''
import sys
before = set(sys.modules)
import memoir
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
'''


def test_import_brings_nothing_heavy(tree, tmp_path):
    """Every process that imports torch imports the package, too, and many a one is not recorded."""
    done = run_explicit(tree, tmp_path, IMPORTS)
    brought = set(done.stdout.split())
    assert {"memoir", "ctypes"} <= brought, done.stderr
    assert not brought & {"dataclasses", "inspect", "logging", "multiprocessing", "pickle", "subprocess", "tempfile", "torch", "typing"}


NAMES = '''
import os, pathlib, sys, torch, memoir
assert memoir.output_dir() is None and memoir.output() is None and not memoir.is_recording() and not memoir.recording()
folder = pathlib.Path(sys.argv[1])
memoir.start(folder / "capture", ring_dir=os.fsencode(folder), control=folder / "switch", rank=None, steps=None, quiet=True)
assert memoir.is_recording() and memoir.recording()
memoir.pause()
assert memoir.is_recording()
(folder / "switch").touch()
assert memoir.output_dir() == memoir.output() == str(folder / "capture")
memoir.resume()
memoir.mark("end")
memoir.stop()
assert not memoir.is_recording() and not memoir.recording() and memoir.output_dir() == str(folder / "capture")
'''


def test_old_and_new_names(tree, tmp_path):
    done = run_explicit(tree, tmp_path, NAMES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [event["name"] for event in events(tree, tmp_path / "capture") if event["event"] == "mark"] == ["end"]


RIGHT = '''
import contextlib
import os
import pathlib

import memoir


def train(steps: int) -> None:
    for number in range(steps):
        memoir.step()
        memoir.step(number)
    memoir.mark("validation")


memoir.start()
memoir.start(pathlib.Path("run1"), max_size="2GiB", ring_size=1 << 25, rank=3, ops="dispatch", modules=False, quiet=True, start="memory")
memoir.pause(memory=True)
memoir.resume()
memoir.flush()
stopped: memoir.Capture | None = memoir.stop()
recorded: bool = memoir.is_recording() or memoir.recording()
folder: str | None = memoir.output_dir() or memoir.output()
with memoir.session(os.fsencode("run2"), steps="10:12", modules="off"):
    train(2)
session: contextlib.AbstractContextManager[None] = memoir.session("run3")
tracker = memoir.MemoryTracker()
tracker.summary(top=10)
peak: float = max(mb for _, mb in tracker.memories_allocated.values())
capture: memoir.Capture = memoir.load(pathlib.Path("run1")).select(steps="10:12", from_=1.5, to="20ms", module="fc", min_size=1 << 20, rank=0)
rows: int = len(capture.events)
found: bool = capture.check("leaks", fail_if=["num_ooms>0"]).found
page: pathlib.Path = capture.report() or capture.export("parquet", "tables")
try:
    memoir.load(b"run2").show(by="module", at="peak").devices[0]
except memoir.CaptureError as problem:
    print(problem)
'''
WRONG = '''import memoir
memoir.start(max_sise="2GiB")
memoir.start(ops="all")
memoir.start("run1", "2GiB")
memoir.session(rank="0")
folder: str = memoir.output_dir()
memoir.begin()
memoir.MemoryTracker().summary("10")
memoir.load("run1").select(step="10:12")
memoir.load(1)
'''


def test_type_checkers_know_the_package(tree, tmp_path):
    """As installed: py.typed declares that it has types."""
    pytest.importorskip("mypy", reason="mypy is not in this environment (setup/requirements.txt has it)")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment"], check=True)
    packages, = tmp_path.glob("environment/lib/python*/site-packages")
    (packages / "memoir.pth").write_text(f"{tree / 'lib' / 'memoir' / 'python'}\n")
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", tmp_path / "environment" / "bin" / "python", "right.py", "wrong.py"],
        cwd=tmp_path, capture_output=True, text=True)
    found = [line.split(":", 2)[:2] for line in done.stdout.splitlines() if ": error:" in line]
    assert done.returncode == 1 and found == [["wrong.py", str(number)] for number in range(2, 11)], done.stdout + done.stderr
