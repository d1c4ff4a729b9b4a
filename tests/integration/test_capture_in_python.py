"""memoir.load: tables without a copy, parts of a recording, and the program's answers, in Python; memoir.stop() returns the same."""

import copy
import gc
import html
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import warnings

import pytest
from recording import run_explicit, run_memoir, show

PROGRAM = """
import sys, torch, memoir
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.Adam(model.parameters())
memoir.start(sys.argv[1], quiet=True)
for step in range(4):
    memoir.step()
    with torch.profiler.record_function("say 'hi' \\"<b>there</b>\\"\\n\\N{FIRE}"):
        model(torch.ones(16, 64)).sum().backward()
    optimizer.step(); optimizer.zero_grad()
memoir.stop()
"""
TABLES = ["events", "blocks", "operators", "modules", "steps", "ranks", "summary", "calls"]


@pytest.fixture(scope="module")
def path(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture <i> & 'it'")
    done = run_explicit(tree, folder, PROGRAM, folder / "run")
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def memoir(tree):
    """The installed package, in this process; torch is not imported."""
    sys.path.insert(0, str(tree / "lib" / "memoir" / "python"))
    import memoir

    yield memoir
    sys.path.remove(str(tree / "lib" / "memoir" / "python"))


@pytest.fixture
def capture(memoir, path):
    return memoir.load(path)


@pytest.fixture
def pyarrow():
    return pytest.importorskip("pyarrow", reason="setup/requirements.txt has it, for Python 3.11 and later")


def exported(tree, path, table, folder, *options):
    import pyarrow.ipc

    done = run_memoir(tree, "export", "arrow", "--tables", table, *options, path, "-o", folder / f"{table}.arrow")
    assert done.returncode == 0, done.stderr
    return pyarrow.ipc.open_file(folder / f"{table}.arrow").read_all()


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_of_the_command(tree, path, capture, pyarrow, tmp_path, name):
    table = getattr(capture, name)
    assert repr(table).startswith(f"<memoir table {name}: not read yet")
    found = pyarrow.table(table)
    found.validate(full=True)
    assert found == exported(tree, path, name, tmp_path) and len(table) == found.num_rows
    assert found.num_rows > 0 or name == "calls"
    assert pyarrow.schema(table) == found.schema and repr(table).startswith(f"<memoir table {name}: {found.num_rows} rows")
    assert bool(table) and getattr(capture, name) is table


def test_every_library_takes_them(capture, pyarrow):
    polars, pandas, duckdb = (pytest.importorskip(name) for name in ("polars", "pandas", "duckdb"))
    blocks = capture.blocks
    expected = pyarrow.table(blocks)
    assert blocks.to_arrow() == expected
    assert polars.DataFrame(blocks).equals(polars.from_arrow(expected)) and blocks.to_polars().equals(polars.from_arrow(expected))
    assert duckdb.sql("SELECT * FROM blocks").to_arrow_table().cast(expected.schema) == expected
    assert pandas.DataFrame.from_arrow(blocks).equals(expected.to_pandas())
    frame = blocks.to_pandas()
    assert str(frame["freed_ns"].dtype) == "Int64" and frame["freed_ns"].isna().sum() == expected["freed_ns"].null_count > 0
    assert frame["bytes"].sum() == sum(expected["bytes"].to_pylist())


def test_numbers_are_those_of_show(tree, path, capture, pyarrow):
    devices = show(tree, path)["devices"]
    assert pyarrow.table(capture.summary)["peak_allocated_bytes"].to_pylist() == [device["peak_allocated_bytes"] for device in devices]
    at = devices[0]["peak_time_ns"]
    live = [row for row in pyarrow.table(capture.blocks).to_pylist() if row["allocated_ns"] <= at and (row["freed_ns"] is None or row["freed_ns"] > at)]
    assert sum(row["bytes"] for row in live) == devices[0]["peak_allocated_bytes"] and len(live) == devices[0]["peak_blocks"]


def memory_files():
    """Ranges of addresses where tables lie."""
    lines = [line.split() for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/memfd:memoir-" in line]
    return [tuple(int(address, 16) for address in line[0].split("-")) for line in lines]


def test_without_a_copy_and_as_long_as_needed(memoir, path, pyarrow):
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    capture = memoir.load(path)
    table = pyarrow.table(capture.events)
    addresses = [buffer.address for column in table.columns for chunk in column.chunks for buffer in chunk.buffers() if buffer is not None and buffer.size > 0]
    maps = memory_files()
    assert len(addresses) > 10 and all(any(begin <= address < end for begin, end in maps) for address in addresses)
    total = sum(table["bytes"].to_pylist())
    del capture
    gc.collect()
    assert sum(table["bytes"].to_pylist()) == total, "rows live on without the capture"
    del table
    gc.collect()
    assert not memory_files() and len(os.listdir("/proc/self/fd")) == before


def test_a_capsule_that_nobody_takes(capture, pyarrow):
    for _ in range(3):
        assert "arrow_array_stream" in repr(capture.steps.__arrow_c_stream__()) and "arrow_schema" in repr(capture.steps.__arrow_c_schema__())
    gc.collect()
    assert pyarrow.table(capture.steps).num_rows == 4


def test_several_threads_read_one_table(memoir, path, pyarrow):
    gc.collect()   # not between the two counts: what other tests left has descriptors, too
    table, before = memoir.load(path).events, len(os.listdir("/proc/self/fd"))
    found, threads = [], []
    for _ in range(8):
        threads.append(threading.Thread(target=lambda: found.append(pyarrow.table(table).num_rows)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert found == [len(table)] * 8 and found[0] > 0
    assert len(os.listdir("/proc/self/fd")) == before + 1, "it was read once"


def test_copies(memoir, path):
    """A capture and an answer can be copied and sent to other processes; a table, which is memory of this one, cannot."""
    capture = memoir.load(path).select(steps="1:3")
    rows = len(capture.blocks)
    for copied in (copy.deepcopy(capture), pickle.loads(pickle.dumps(capture))):
        assert repr(copied) == repr(capture) and len(copied.blocks) == rows and copied.blocks is not capture.blocks
    shown = capture.show()
    assert pickle.loads(pickle.dumps(shown)) == shown and pickle.loads(pickle.dumps(shown)).devices[0].device == "cpu"
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(capture.blocks)


@pytest.mark.parametrize("selection, options", [
    ({"steps": "1:3"}, ("--steps", "1:3")), ({"from_": "1ms", "to": 3600}, ("--from", "1ms", "--to", "3600")), ({"from_": 0.001}, ("--from", "0.001")),
    ({"device": "cpu", "rank": 0, "run": "last"}, ("--device", "cpu", "--rank", "0", "--run", "last")),
])  # fmt: skip
def test_a_part(tree, path, capture, pyarrow, tmp_path, selection, options):
    part = capture.select(**selection)
    assert pyarrow.table(part.events) == exported(tree, path, "events", tmp_path, *options)
    assert part.show() == show(tree, path, *options)


def test_parts_of_parts(tree, path, capture, pyarrow, tmp_path):
    part = capture.select(steps="1:3").select(module="0", min_size="1KiB")
    assert repr(part) == f"<memoir capture {str(path)!r}, steps='1:3', module='0', min_size='1KiB'>"
    blocks = pyarrow.table(part.blocks)
    assert blocks == exported(tree, path, "blocks", tmp_path, "--steps", "1:3", "--module", "0", "--min-size", "1KiB")
    assert 0 < blocks.num_rows < len(capture.select(steps="1:3").blocks) < len(capture.blocks)
    assert pyarrow.table(part.summary)["peak_allocated_bytes"].to_pylist() == [device.peak_allocated_bytes for device in part.show().devices]
    with pytest.raises(TypeError, match="stesp"):
        capture.select(stesp="1:3")


def test_what_cannot_be_selected_is_said(memoir, capture):
    with pytest.raises(memoir.CaptureError, match="--module and --min-size work only with"):
        len(capture.select(module="0").steps)
    with pytest.raises(memoir.CaptureError, match="unknown option --range"):
        capture.select(range="forward").report("never.html")
    with pytest.raises(memoir.CaptureError, match="no step"):
        len(capture.select(steps="100:200").events)


def test_answers(tree, path, capture):
    answer = capture.show(by="category", at="peak")
    assert answer == show(tree, path, "--by", "category", "--at", "peak")
    assert answer.devices[0].device == answer["devices"][0]["device"] == "cpu" and "devices" in dir(answer)
    assert repr(answer) + "\n" == answer.text == run_memoir(tree, "show", "--by", "category", "--at", "peak", path).stdout
    with pytest.raises(AttributeError, match="no key 'device'; there are version, capture"):
        answer.device  # noqa: B018
    assert json.loads(json.dumps(answer)) == answer and repr(answer.devices[0]) == repr(dict(answer.devices[0]))
    subject = capture.explain("aten::addmm#0")
    assert subject.text == run_memoir(tree, "explain", path, "aten::addmm#0").stdout


def test_check(memoir, tree, path, capture):
    found = capture.check()
    assert not found.found and found.leaks.view == "check_leaks" and repr(found) == run_memoir(tree, "check", path).stdout.rstrip("\n")
    found = capture.check("oom", fail_if=["num_ooms>=0", "num_ooms>5"])
    assert [(one.condition, one.holds) for one in found.fail_if] == [("num_ooms>=0", True), ("num_ooms>5", False)] and found.found
    with pytest.raises(memoir.CaptureError, match="peak_allocated"):
        capture.check(fail_if="peak_allocated>1GiB")  # there is no GPU: what is not known does not pass


def test_a_notebook_shows_it(capture, tree, path):
    page = capture._repr_html_()
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    for verb in (("show", "--by", "category"), ("check",)):
        assert run_memoir(tree, *verb, path).stdout.rstrip() in text
    assert set(re.findall(r"<(\w+)", page)) == {"div", "b", "code", "pre"} and str(path) in text, "names are text: the path has markup"
    assert "http" not in page and "src=" not in page
    name = "say 'hi' \"<b>there</b>\"\n\U0001f525"
    assert name in capture.operators.to_arrow()["name"].to_pylist() if "pyarrow" in sys.modules else True
    shown = capture.show(by="range")._repr_html_()
    assert "&lt;b&gt;there&lt;/b&gt;" in shown and "<b>" not in shown


def test_files(capture, tmp_path, monkeypatch, recwarn):
    monkeypatch.chdir(tmp_path)
    assert capture.report() == pathlib.Path("run.html") and "<html" in pathlib.Path("run.html").read_text()
    assert capture.report(tmp_path / "other.html") == tmp_path / "other.html" and (tmp_path / "other.html").exists()
    assert capture.export("parquet", "tables", tables="blocks,steps") == pathlib.Path("tables") and sorted(os.listdir("tables")) == ["_memoir.json", "blocks.parquet", "steps.parquet"]
    assert not recwarn.list


def test_errors_say_what_to_do(memoir, path, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "-text").write_text("no capture")
    for wrong, message in [(tmp_path / "missing", "no such file or folder; a capture is the folder"), (tmp_path / "empty", "an empty folder, not a capture; record one with"), (tmp_path / "-text", "-text")]:
        with pytest.raises(memoir.CaptureError, match=message):
            memoir.load(wrong)
    gone = memoir.load(path)
    gone.path = str(tmp_path / "gone")
    with pytest.raises(memoir.CaptureError, match="no such file or folder"):
        len(gone.blocks)
    assert "no such file or folder" in gone._repr_html_()


def test_a_tree_without_its_program_or_library(tree, path, tmp_path):
    moved = tmp_path / "tree"
    subprocess.run(["cp", "-r", tree, moved], check=True)
    script = "import memoir, sys\ntry:\n    print(len(memoir.load(sys.argv[1]).blocks))\nexcept memoir.CaptureError as problem:\n    print(problem)\n"
    assert int(run_explicit(moved, tmp_path, script, path).stdout) > 0
    (moved / "lib" / "memoir" / "libmemoir_arrow.so").unlink()
    assert "libmemoir_arrow.so" in (said := run_explicit(moved, tmp_path, script, path).stdout) and "install Memoir again" in said
    (moved / "bin" / "memoir").unlink()
    script = script.replace("len(memoir.load(sys.argv[1]).blocks)", "memoir.load(sys.argv[1]).check()")
    assert re.fullmatch(r"no bin/memoir beside .*; install Memoir again\n", run_explicit(moved, tmp_path, script, path).stdout)


def test_losses_are_a_warning(memoir, path, tmp_path):
    damaged = tmp_path / "damaged"
    subprocess.run(["cp", "-r", path, damaged], check=True)
    part, = damaged.glob("*.memoir")
    part.write_bytes(part.read_bytes()[:-1])
    capture = memoir.load(damaged)
    with pytest.warns(UserWarning, match=f"{damaged}: damaged: ") as seen:
        len(capture.blocks)
    assert {warning.filename for warning in seen} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        len(capture.blocks)


STOPPED = """
import sys, torch, memoir
assert memoir.stop() is None
memoir.start(sys.argv[1], quiet=True)
torch.ones(1000)
assert "_torch_memoir.captures._capture" not in sys.modules
capture = memoir.stop()
assert isinstance(capture, memoir.Capture) and capture.path == memoir.output_dir() == sys.argv[1]
assert "aten::ones" in capture.show().text and len(capture.blocks) == 1
assert memoir.stop() is None
with memoir.session(sys.argv[1] + "2", quiet=True) as nothing:
    assert nothing is None
print("fine")
"""


def test_stop_returns_it(tree, tmp_path):
    done = run_explicit(tree, tmp_path, STOPPED, tmp_path / "capture")
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


NO_DESCRIPTORS = """
import resource, sys, torch, memoir
memoir.start(sys.argv[1], quiet=True)
torch.ones(1000)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 4096))
assert memoir.stop() is None
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 4096))
print(len(memoir.load(sys.argv[1]).blocks))
"""


def test_stop_ends_nothing_but_the_recording(tree, tmp_path):
    """In a process that can open no file, there is nothing to return."""
    done = run_explicit(tree, tmp_path, NO_DESCRIPTORS, tmp_path / "capture")
    assert done.returncode == 0 and int(done.stdout) >= 1, done.stderr
    assert "memoir.stop() can't open it in this process" in done.stderr


INSIDE = """
import sys, torch, memoir
memoir.start("ignored")
torch.ones(1000)
assert memoir.stop() is None and memoir.is_recording()
memoir.flush()
print(len(memoir.load(memoir.output_dir()).blocks))
"""


def test_beside_a_recording_that_goes_on(record, tmp_path):
    """It is read while it grows, and the program that reads it is no part of it."""
    (tmp_path / "script.py").write_text(INSIDE)
    done = record(tmp_path / "capture", tmp_path / "script.py")
    assert done.returncode == 0 and int(done.stdout) >= 1, done.stderr
    assert len(list((tmp_path / "capture").glob("*.memoir"))) == 1
