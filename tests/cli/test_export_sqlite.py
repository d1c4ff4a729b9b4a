"""memoir export sqlite: Python's sqlite3 reads it, and its rows equal memoir export tree, export categories and memoir show."""

import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess

import pytest

SAMPLES = ["training", "empty", "one_operator", "odd_names", "ranks", "losses", "folded", "trained", "cuda_unknown", "cuda_lost", "driver", "calls", "kernels"]
TABLES = {"ranks", "modules", "steps", "operators", "blocks", "events", "calls", "summary"}


@pytest.fixture
def query(memoir, samples, tmp_path):
    def query(sample, sql, *options):
        path = tmp_path / "run.db"
        if not path.exists():
            done = memoir("export", "sqlite", *options, samples / sample, "-o", path)
            assert done.returncode == 0, done.stderr
        with contextlib.closing(sqlite3.connect(path)) as database:
            return database.execute(sql).fetchall()

    return query


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_file_is_sound(query, sample, tmp_path):
    assert query(sample, "PRAGMA integrity_check") == [("ok",)]
    assert {name for (name,) in query(sample, "SELECT name FROM sqlite_master WHERE type = 'table'")} == TABLES
    assert not list(tmp_path.glob("*partial*"))
    assert query(sample, "SELECT count(*) FROM blocks WHERE module IS NOT NULL AND module NOT IN (SELECT module FROM modules)") == [(0,)]
    assert query(sample, "SELECT count(*) FROM operators WHERE parent IS NOT NULL AND parent NOT IN (SELECT operator FROM operators)") == [(0,)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_operators_and_events_are_the_tree(memoir, samples, query, sample):
    lines = [json.loads(line) for line in memoir("export", "tree", samples / sample).stdout.splitlines()]
    nodes = [node for node in lines if node["kind"] not in ("memory", "device_call")]
    found = query(sample, "SELECT operator, parent, begin_ns, end_ns, allocated_bytes, freed_bytes, phase FROM operators ORDER BY operator")
    keys = ("node", "parent", "begin_ns", "end_ns", "allocated_bytes", "freed_bytes", "phase")
    assert found == [tuple(node.get(key) for key in keys) for node in nodes]
    calls = query(sample, "SELECT name, file FROM operators WHERE kind = 'call' ORDER BY operator")
    assert calls == [(node["function"], node["file"]) for node in nodes if node["kind"] == "call"]
    named = query(sample, "SELECT name FROM operators WHERE kind NOT IN ('module', 'call') ORDER BY operator")
    assert [name for (name,) in named] == [node["name"] for node in nodes if node["kind"] == "range"]
    memory = [(node["begin_ns"], node["action"], abs(node["bytes"])) for node in lines if node["kind"] == "memory"]
    assert sorted(query(sample, "SELECT ns, action, bytes FROM events")) == sorted(memory)


def test_calls_of_cuda_are_the_trees(memoir, samples, query):
    lines = [json.loads(line) for line in memoir("export", "tree", samples / "kernels").stdout.splitlines()]
    calls = [node for node in lines if node["kind"] == "device_call"]
    keys = ("begin_ns", "end_ns", "parent", "call", "device", "kernel", "copy", "error")
    found = query("kernels", "SELECT begin_ns, end_ns, operator, call, device, symbol, kind, error FROM calls ORDER BY rowid")
    assert len(calls) > 30 and found == [tuple(node.get(key) for key in keys) for node in calls]
    assert query("kernels", "SELECT DISTINCT kernel FROM calls WHERE operator IN (SELECT operator FROM operators WHERE name = 'aten::add')") == [
        ("at::native::vectorized_elementwise_kernel<...>",)
    ]
    assert query("kernels", "SELECT sum(bytes) FROM calls WHERE kind = 'host_to_device'") == [(4 << 20,)]
    assert query("kernels", "SELECT count(*), count(DISTINCT stream) FROM calls WHERE call = 'cudaGraphLaunch'") == [(20, 1)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_blocks_are_the_categories(memoir, samples, query, sample):
    blocks = json.loads(memoir("export", "categories", samples / sample).stdout)["blocks"]
    keys = ("device", "bytes", "serial", "allocated_time_ns", "freed_time_ns", "phase", "category", "rule", "parameter")
    columns = "device, bytes, serial, allocated_ns, freed_ns, phase, category, rule, parameter"
    order = lambda row: tuple(map(str, row))
    found = query(sample, f"SELECT {columns} FROM blocks")
    assert sorted(found, key=order) == sorted((tuple(block[key] for key in keys) for block in blocks), key=order)


@pytest.mark.parametrize("sample", ["training", "ranks", "trained", "one_operator"])
def test_the_peak_by_a_query(memoir, samples, query, sample):
    """The live blocks at the peak's instant, from the table of blocks alone."""
    shown = json.loads(memoir("show", "--json", samples / sample).stdout)
    for device in shown["devices"]:
        live, = query(sample, f"SELECT sum(bytes) FROM blocks WHERE process = {device['process']} AND device = '{device['device']}' "
                              f"AND allocated_ns <= {device['peak_time_ns']} AND ifnull(freed_ns, 1e18) > {device['peak_time_ns']}")[0]  # fmt: skip
        assert live == device["peak_allocated_bytes"]


def test_ranks_and_steps(query):
    assert query("ranks", "SELECT rank FROM ranks ORDER BY process") == [(0,), (1,)]


def test_steps_are_numbered(memoir, samples, query):
    steps = query("training", "SELECT step, begin_ns, source FROM steps ORDER BY begin_ns")
    assert len(steps) == json.loads(memoir("show", "--json", samples / "training").stdout)["step_count"] > 1
    assert [step for step, _, _ in steps] == list(range(steps[0][0], steps[0][0] + len(steps)))


def test_a_window(query):
    assert 0 < query("training", "SELECT count(*) FROM operators", "--steps", "1:2")[0][0]


def test_it_replaces_what_was_there(memoir, samples, tmp_path):
    (tmp_path / "run.db").write_text("an old file")
    assert memoir("export", "sqlite", samples / "training", "-o", "run.db").returncode == 0
    assert (tmp_path / "run.db").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.parametrize("output, message", [([], "add -o FILE"), (["-o", "-"], "add -o FILE")])
def test_it_needs_a_file(memoir, samples, output, message, one_line):
    done = memoir("export", "sqlite", samples / "training", *output)
    assert done.returncode == 2 and message in one_line(done)


@pytest.mark.parametrize("output", ["/dev/full", "missing/run.db", "."])
def test_where_it_cannot_be_written(memoir, samples, tmp_path, output):
    done = memoir("export", "sqlite", samples / "training", "-o", output)
    assert done.returncode == 1 and f"cannot write {output}: " in done.stderr, done.stderr
    assert not list(tmp_path.glob("*partial*"))


def test_a_full_disk_leaves_the_file_of_before(fake_tree, samples, tmp_path):
    def few_bytes():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    (tmp_path / "run.db").write_text("an old file")
    command = [fake_tree / "bin" / "memoir", "export", "sqlite", samples / "trained", "-o", tmp_path / "run.db"]
    done = subprocess.run(command, check=False, preexec_fn=few_bytes, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "cannot write " in done.stderr, done.stderr
    assert os.listdir(tmp_path).count("run.db") == 1 and not list(tmp_path.glob("*partial*"))
    assert (tmp_path / "run.db").read_text() == "an old file"
