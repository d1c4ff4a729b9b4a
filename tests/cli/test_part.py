"""A part of a capture (a window, some blocks) means the same in every export, and where it makes no sense the program says why."""

import contextlib
import json
import sqlite3

import pytest

MODULE = ("--module", "fc")  # of the sample: its blocks of the forward and of the backward pass
CHOICES = [MODULE, ("--min-size", "3MiB"), ("--module", "Net.f*", "--min-size", "2MiB"), ("--steps", "1:2", "--module", "fc")]


def events(memoir, sample, *options):
    """Addresses and bytes of what is allocated, and addresses of what is freed, by export events."""
    done = memoir("export", "events", *options, sample)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    told = lambda kind: [(int(str(row["address"]), 0), row["bytes"]) for row in rows if row.get("event") == kind]
    return told("allocate"), told("deallocate")


@pytest.fixture
def trained(samples):
    return samples / "trained"


@pytest.mark.parametrize("options", CHOICES)
def test_exports_choose_the_same_blocks(memoir, trained, tmp_path, options):
    allocated, freed = events(memoir, trained, *options)
    assert 0 < len(allocated) < len(events(memoir, trained)[0])
    # tree
    done = memoir("export", "tree", *options, trained)
    nodes = [json.loads(line) for line in done.stdout.splitlines()]
    of = lambda action: [(int(str(node["address"]), 0), abs(node["bytes"])) for node in nodes if node.get("action") == action]
    assert (of("allocate"), of("free")) == (allocated, freed)
    assert sum(node["allocated_bytes"] for node in nodes if node.get("parent") is None and "allocated_bytes" in node) == sum(size for _, size in allocated)
    # sqlite
    assert memoir("export", "sqlite", *options, trained, "-o", "run.db").returncode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "run.db")) as database:
        rows = lambda sql: database.execute(sql).fetchall()
        assert rows("SELECT address, bytes FROM events WHERE action = 'allocate' ORDER BY ns, rowid") == allocated
        shown = json.loads(memoir("show", "--json", *options, trained).stdout)["devices"]
        assert rows("SELECT peak_allocated_bytes, allocated_bytes FROM summary") == [(device["peak_allocated_bytes"], device["allocated_bytes"]) for device in shown]
        born = set(allocated)
        assert born <= set(rows("SELECT address, bytes FROM blocks"))
    # chrome
    trace = json.loads(memoir("export", "chrome", *options, trained).stdout)["traceEvents"]
    counted = [event for event in trace if event["ph"] == "C"]
    most = lambda name: max(event["args"]["bytes"] for event in counted if event["name"] == name)
    assert most("cpu allocated, chosen blocks") == shown[0]["peak_allocated_bytes"] < most("cpu allocated")
    assert "cpu allocated, chosen blocks" not in memoir("export", "chrome", trained).stdout


def test_data_flow_is_of_chosen_tensors(memoir, trained, tmp_path):
    def nodes(*options):
        assert memoir("export", "data-flow", *options, trained, "-o", "flow.json").returncode == 0
        return json.loads((tmp_path / "flow.json").read_text())["nodes"]

    def touched(node):
        return [tensor for role in ("inputs", "outputs", "freed", "intermediates") for tensor in node[role]]

    whole, part = nodes(), nodes("--min-size", "3MiB")
    assert 0 < len(part) < len(whole)
    assert all(touched(node) and all(tensor["bytes"] >= 3 << 20 for tensor in touched(node)) for node in part)
    large = lambda found: sorted((node["time_ns"], tensor["storage"], tensor["version"]) for node in found for tensor in touched(node) if tensor["bytes"] >= 3 << 20)
    assert large(part) == large(whole), "tensors keep their numbers and versions"
    assert len(nodes(*MODULE)) < len(whole)
    text = memoir("export", "data-flow", "--min-size", "3MiB", trained).stdout.splitlines()
    assert 0 < len(text) < len(memoir("export", "data-flow", trained).stdout.splitlines())
    assert memoir("export", "data-flow", "--from", "1ms", "--to", "5ms", trained).returncode == 0


@pytest.mark.parametrize(
    "what, message",
    [
        (["memory-tracker"], "do not work with memory-tracker, which shows the allocator's totals; --root chooses"),
        (["memory-timeline", "-o", "out.json"], "do not work with torch's rules, whose categories follow from all blocks together; use export categories"),
        (["categories", "--rules", "torch"], "do not work with torch's rules"),
        (["tree", "--format", "torch"], "work only with --format json"),
        (["arrow", "--tables", "steps,ranks", "-o", "out"], "work only with the tables blocks, events, operators and summary"),
    ],
)
def test_where_a_choice_of_blocks_makes_no_sense(memoir, trained, one_line, what, message):
    done = memoir("export", *what, "--module", "fc", trained)
    assert done.returncode == 2 and message in one_line(done)


EXPORTS = ["events", "tree", "categories", "data-flow", "collapsed", "speedscope", "pprof", "perfetto", "chrome", "sqlite", "arrow", "parquet"]


@pytest.mark.parametrize("what", [*EXPORTS, "report"])
@pytest.mark.parametrize(
    "options, message",
    [
        (["--module", "layers.3"], "nothing was allocated in a module 'layers.3'; there are: fc"),
        (["--min-size", "1TiB"], "no block has 1.00 TiB or more; the largest has 4.0 MiB"),
        (["--steps", "7:9"], "no step from 7 to below 9; steps are counted up to 1 here"),
        (["--from", "1h"], None),
        (["--from", "3000s"], "no event in that span of time; the recording is from"),
    ],
)
def test_what_is_not_there(memoir, trained, page, tmp_path, one_line, what, options, message):
    verb = ["report"] if what == "report" else ["export", what]
    done = memoir(*verb, *options, trained, "-o", tmp_path / "out")
    line = one_line(done)
    if message is None:
        assert done.returncode == 2 and "--from 1h: expected a time" in line
    else:
        assert done.returncode == 1 and message in line, line
    assert not list(tmp_path.glob("out*"))


def test_no_modules_were_recorded(memoir, samples, page, tmp_path, one_line):
    for verb in (["report"], ["export", "tree"]):
        done = memoir(*verb, "--module", "fc", samples / "training", "-o", "out")
        assert done.returncode == 1 and "the recording has no modules" in one_line(done)
    assert not list(tmp_path.glob("out*"))
