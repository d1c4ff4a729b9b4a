"""memoir export arrow and parquet: pyarrow, polars, pandas and DuckDB read them, and find what export sqlite and show --json say."""

import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess

import pytest

REASON = "setup/requirements.txt has it, for Python 3.11 and later"
pyarrow = pytest.importorskip("pyarrow", reason=REASON)
polars = pytest.importorskip("polars", reason=REASON)
pandas = pytest.importorskip("pandas", reason=REASON)
duckdb = pytest.importorskip("duckdb", reason=REASON)
import pyarrow.ipc  # noqa: E402
import pyarrow.parquet  # noqa: E402

SAMPLES = ["training", "empty", "one_operator", "odd_names", "ranks", "losses", "folded", "trained", "cuda", "cuda_unknown", "cuda_lost", "driver", "calls", "kernels", "many", "job"]
TABLES = ["ranks", "modules", "steps", "operators", "blocks", "events", "calls", "summary"]
FORMS = ["arrow", "parquet"]
JOBS = ["ranks", "job"]
READ = {"arrow": lambda path: pyarrow.ipc.open_file(path).read_all(), "parquet": pyarrow.parquet.read_table}


@pytest.fixture
def exported(memoir, samples, tmp_path):
    def exported(form, sample, *options):
        done = memoir("export", form, *options, samples / sample, "-o", tmp_path / form)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        if form == "parquet" and sample in JOBS:  # by rank: tests/queries. A table of all ranks together is in a separate file
            assert sorted(os.listdir(tmp_path / form)) == sorted([*TABLES, "_memoir.json"])
            for table in TABLES:
                done = memoir("export", form, *options, "--tables", table, samples / sample, "-o", tmp_path / f"{table}.parquet")
                assert done.returncode == 0, done.stderr
                rows = sum(pyarrow.parquet.read_metadata(file).num_rows for file in (tmp_path / form / table).rglob("*.parquet"))
                assert rows == READ[form](tmp_path / f"{table}.parquet").num_rows or table == "modules"
            return {table: tmp_path / f"{table}.parquet" for table in TABLES}
        manifest = ["_memoir.json"] if form == "parquet" else []
        assert sorted(os.listdir(tmp_path / form)) == sorted([f"{table}.{form}" for table in TABLES] + manifest)
        return {table: tmp_path / form / f"{table}.{form}" for table in TABLES}

    return exported


def signed(table):
    """As SQLite's numbers are."""
    return [{name: value - 2**64 if isinstance(value, int) and value >= 2**63 else value for name, value in row.items()} for row in table.to_pylist()]


def test_a_file_contains_no_bits_of_other_memory(exported):
    """The bits after the last row in a bitmap of valid rows are zero."""
    bitmaps = 0
    for path in exported("arrow", "training").values():
        file = pyarrow.ipc.open_file(path)
        for number in range(file.num_record_batches):
            for column in file.get_batch(number).columns:
                validity = column.buffers()[0]
                if validity is not None and len(column) % 8:
                    assert validity.to_pybytes()[len(column) // 8] >> (len(column) % 8) == 0
                    bitmaps += 1
    assert bitmaps > 0


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_reader_finds_what_sqlite_has(memoir, samples, exported, tmp_path, sample):
    files = {form: exported(form, sample) for form in FORMS}
    assert memoir("export", "sqlite", samples / sample, "-o", "run.db").returncode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "run.db")) as database:
        database.row_factory = sqlite3.Row
        for name in TABLES:
            arrow, parquet = (READ[form](files[form][name]) for form in FORMS)
            arrow.validate(full=True)
            assert signed(arrow) == [dict(row) for row in database.execute(f"SELECT * FROM {name}")]
            assert parquet.schema == arrow.schema and parquet == arrow
            assert polars.read_parquet(files["parquet"][name]).equals(polars.read_ipc(files["arrow"][name]))
            assert polars.read_parquet(files["parquet"][name]).to_arrow().cast(arrow.schema) == arrow
            assert duckdb.sql(f"SELECT * FROM '{files['parquet'][name]}'").to_arrow_table().cast(arrow.schema) == arrow
            frames = [pandas.read_parquet(files["parquet"][name]), pandas.read_feather(files["arrow"][name])]
            assert frames[0].equals(frames[1]) and len(frames[0]) == arrow.num_rows


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sample", ["training", "ranks", "trained", "cuda", "driver", "empty"])
def test_the_summary_is_that_of_show(memoir, samples, exported, form, sample):
    devices = json.loads(memoir("show", "--json", samples / sample).stdout)["devices"]
    rows = READ[form](exported(form, sample)["summary"]).to_pylist()
    assert rows == [{name: device.get(name) if device.get(name) != "" else None for name in row} for row, device in zip(rows, devices, strict=True)]
    assert [row["peak_allocated_bytes"] for row in rows] == [device["peak_allocated_bytes"] for device in devices]


def test_the_peak_by_a_query(memoir, samples, exported):
    blocks = exported("parquet", "trained")["blocks"]
    for device in json.loads(memoir("show", "--json", samples / "trained").stdout)["devices"]:
        at = device["peak_time_ns"]
        query = f"SELECT sum(bytes) FROM '{blocks}' WHERE process = {device['process']} AND device = '{device['device']}' AND allocated_ns <= {at} AND ifnull(freed_ns, 9e18) > {at}"
        assert duckdb.sql(query).fetchall() == [(device["peak_allocated_bytes"],)]


def test_names_stay_what_they_are(exported):
    """Line feeds, escapes, letters of other scripts, emoji and an empty name."""
    files = {form: exported(form, "odd_names") for form in FORMS}
    for form in FORMS:
        names = READ[form](files[form]["operators"])["name"].to_pylist()
        assert {"模型::注意力机制.前向传播", "red \x1b[31malert\x1b[0m\r\n\t", "reversed \u202eelif\u202c", "\U0001f525 fire"} <= set(names), names
        assert READ[form](files[form]["ranks"])["host"].to_pylist() == ["host\nmemoir: all is well"]


@pytest.mark.parametrize("form", FORMS)
def test_twice_is_the_same_file(memoir, samples, tmp_path, form):
    for output in ("one", "two", "one"):
        assert memoir("export", form, "--tables", "blocks", samples / "trained", "-o", output).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_some_tables(memoir, samples, tmp_path):
    assert memoir("export", "arrow", "--tables", "blocks,steps", samples / "training", "-o", "some/").returncode == 0
    assert sorted(os.listdir(tmp_path / "some")) == ["blocks.arrow", "steps.arrow"]
    assert memoir("export", "parquet", "--tables", "blocks", samples / "training", "-o", "blocks.parquet").returncode == 0
    assert pyarrow.parquet.read_table(tmp_path / "blocks.parquet") == READ["arrow"](tmp_path / "some" / "blocks.arrow")
    (tmp_path / "there").mkdir()
    assert memoir("export", "parquet", "--tables", "blocks", samples / "training", "-o", "there").returncode == 0
    assert sorted(os.listdir(tmp_path / "there")) == ["_memoir.json", "blocks.parquet"]


@pytest.mark.parametrize("options", [("--steps", "1:2"), ("--from", "3ms", "--to", "6ms"), ("--device", "cpu"), ("--rank", "0")])
def test_a_part(memoir, samples, exported, tmp_path, options):
    """By the words of the other exports, and what they choose."""
    events = READ["arrow"](exported("arrow", "training", *options)["events"])
    assert memoir("export", "sqlite", *options, samples / "training", "-o", "run.db").returncode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "run.db")) as database:
        chosen = database.execute("SELECT ns, bytes FROM events").fetchall()
    assert list(zip(events["ns"].to_pylist(), events["bytes"].to_pylist(), strict=True)) == chosen and chosen


@pytest.mark.parametrize("form", FORMS)
def test_one_table_goes_through_a_pipe(fake_tree, samples, form):
    command = [fake_tree / "bin" / "memoir", "export", form, "--tables", "events", samples / "training"]
    whole = subprocess.run(command, check=True, capture_output=True).stdout
    table = pyarrow.ipc.open_stream(whole).read_all() if form == "arrow" else pyarrow.parquet.read_table(pyarrow.BufferReader(whole))
    assert table.num_rows == 27


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "options, message",
    [
        ([], "several tables go into a folder: add -o FOLDER, or name one with --tables"),
        (["-o", "-"], "several tables go into a folder"),
        (["--tables", "blocks,block", "-o", "out"], "--tables blocks,block: tables are ranks, modules, steps"),
        (["--tables", "steps", "-o", "out", "--module", "Net"], "--module and --min-size work only with"),
    ],
)
def test_what_makes_no_sense(memoir, samples, form, options, message, one_line):
    done = memoir("export", form, samples / "training", *options)
    assert done.returncode == 2 and message in one_line(done)


def test_tables_are_of_these_two(memoir, samples, one_line):
    assert "--tables works only with arrow and parquet" in one_line(memoir("export", "sqlite", "--tables", "blocks", samples / "training", "-o", "run.db"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "output, message",
    [
        ("/dev/full", "cannot write into /dev/full: it is a file; name a folder with -o"),
        ("missing/out", "cannot write into missing/out: No such file or directory; make the folder above it first"),
        ("full", "cannot write into full: it is not empty; remove it first, or name another folder with -o"),
    ],
)
def test_where_the_folder_cannot_be(memoir, samples, tmp_path, form, output, message, one_line):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "kept").write_text("kept")
    done = memoir("export", form, samples / "training", "-o", output)
    assert done.returncode == 1 and message in one_line(done)
    assert os.listdir(tmp_path / "full") == ["kept"]


@pytest.mark.parametrize("form", FORMS)
def test_a_full_device(memoir, samples, form):
    done = memoir("export", form, "--tables", "blocks", samples / "training", "-o", "/dev/full")
    assert done.returncode == 1 and "cannot write /dev/full: No space left on device" in done.stderr, done.stderr


def limited(fake_tree, samples, tmp_path, *arguments):
    def few_bytes():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    command = [fake_tree / "bin" / "memoir", "export", *arguments, samples / "trained"]
    return subprocess.run(command, check=False, cwd=tmp_path, preexec_fn=few_bytes, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_leaves_nothing_of_a_folder(fake_tree, samples, tmp_path, form):
    """Some of the tables fit, and the others do not."""
    (tmp_path / "empty").mkdir()
    for output in ("new", "empty"):
        done = limited(fake_tree, samples, tmp_path, form, "-o", output)
        assert done.returncode == 1 and "cannot write " in done.stderr, done.stderr
    assert os.listdir(tmp_path) == ["empty"] and not os.listdir(tmp_path / "empty")


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_leaves_the_file_of_before(fake_tree, samples, tmp_path, form):
    (tmp_path / "old").write_text("an old file")
    done = limited(fake_tree, samples, tmp_path, form, "--tables", "blocks", "-o", "old")
    assert done.returncode == 1 and "cannot write " in done.stderr, done.stderr
    assert os.listdir(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "an old file"


def test_in_another_programs_eyes(exported):
    """Types and what may be NULL, as readers of the schema see them."""
    for form in FORMS:
        schema = READ[form](exported(form, "training")["blocks"]).schema
        assert [str(schema.field(name).type) for name in ("process", "address", "bytes", "category")] == ["int64", "uint64", "int64", "string"]


@pytest.mark.parametrize("table", ["ranks", "steps", "blocks"])
def test_missing_events_are_said(memoir, samples, tmp_path, table):
    for sample in ("losses", "training"):
        done = memoir("export", "parquet", "--tables", table, samples / sample, "-o", tmp_path / f"{sample}.parquet")
        assert done.returncode == 0, done.stderr
        assert ("events are missing from the capture" in done.stderr) == (sample == "losses"), done.stderr
