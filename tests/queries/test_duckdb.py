"""memoir query on DuckDB has the figures of memoir show for the same captures."""

import json
import random
import sys

import pytest

from conftest import QUERIES, SAMPLES, document, run

REASON = "setup/requirements.txt has it, for Python 3.11 and later"
duckdb = pytest.importorskip("duckdb", reason=REASON)
CAPTURES = (*SAMPLES, "four")
EVICTED = "folded"  # its blocks are not all there
NAMES = sorted(file.stem for file in QUERIES.glob("*.sql"))


@pytest.fixture(scope="module")
def queries(tree):
    """The installed package, in this process: what `memoir query --json` prints."""
    sys.path.insert(0, str(tree / "lib" / "memoir" / "python"))
    from _torch_memoir import queries

    yield queries
    sys.path.remove(str(tree / "lib" / "memoir" / "python"))


@pytest.fixture
def query(tree, tables, queries, tmp_path):
    def query(name, data):
        folder = tree / "lib" / "memoir" / "queries"
        asked = {"data": str(tables / data), "sql": str(folder / f"{name}.sql"), "views": str(folder / "views"), "engine": "duckdb", "program": str(tree / "bin" / "memoir")}
        return queries.run(asked, str(tmp_path))

    return query


@pytest.fixture
def show(tree, captures):
    return lambda name, *options: document(tree, "show", "--json", *options, captures[name])


def column(rows, key, value):
    """{row[key]: row[value]} without zeros; a key may be several."""
    keys = key if isinstance(key, tuple) else (key,)
    found = {}
    for row in rows:
        one = tuple(row[name] for name in keys)
        found[one] = found.get(one, 0) + (row[value] or 0)
    return {one: number for one, number in found.items() if number}


def test_the_list_has_every_file_with_what_it_answers(tree):
    listed = run(tree, "query", environment={"COLUMNS": "200"})
    assert listed.returncode == 0 and not listed.stderr
    lines = dict(line.split(maxsplit=1) for line in listed.stdout.splitlines())
    assert sorted(lines) == NAMES
    for name in NAMES:
        text = (QUERIES / f"{name}.sql").read_text()
        assert text.startswith(f"-- {lines[name]}\n")
        assert run(tree, "query", name, "--sql").stdout == text
    assert all(len(line) <= 80 for line in run(tree, "query").stdout.splitlines())


@pytest.mark.parametrize("name", [one for one in CAPTURES if one != EVICTED])
def test_operators_are_those_of_show(query, show, name):
    rows = query("top_operators", name)["rows"]
    shown = show(name, "--by", "operator")["operators"]
    assert column(rows, "operator", "allocated_bytes") == column(shown, "name", "allocated_bytes")
    assert column(rows, "operator", "allocations") == column(shown, "name", "allocations")
    assert [row["allocated_bytes"] for row in rows] == sorted((row["allocated_bytes"] for row in rows), reverse=True)


@pytest.mark.parametrize("name", CAPTURES)
def test_categories_of_each_rank_add_up_to_its_peak(query, show, name):
    rows = query("peak_by_category", name)["rows"]
    shown = show(name, "--by", "category")
    peaks = column(shown["devices"], ("process", "device"), "peak_allocated_bytes")
    assert column(rows, ("process", "device"), "bytes") == peaks
    if name != EVICTED:
        held = [{**held, "category": row["category"]} for row in shown["categories"] for held in row.get("devices") or [{**shown["devices"][0], **row}]]
        assert column(rows, ("process", "device", "category"), "bytes") == column(held, ("process", "device", "category"), "bytes_at_peak")


@pytest.mark.parametrize("name", [one for one in CAPTURES if one != EVICTED])
def test_modules_and_lines_of_the_peaks(query, show, name):
    modules = show(name, "--by", "module")["modules"]
    in_modules = [row for row in modules if row["kind"] in ("named", "before") and "path" in row]
    rows = query("peak_by_module", name)["rows"]
    assert column([row for row in rows if not row["root"].startswith("(")], ("root", "path"), "bytes") == column(in_modules, ("root", "path"), "bytes_at_peak")
    others = {row["name"]: row["bytes_at_peak"] for row in modules if row["kind"] in ("none", "workspace") and row["bytes_at_peak"]}
    assert {row["root"]: row["bytes"] for row in rows if row["root"].startswith("(")} == others
    lines = show(name, "--by", "line")["lines"]
    rows = query("peak_by_line", name)["rows"]
    in_lines = [row for row in lines if row["file"] is not None]
    assert column([row for row in rows if row["line"] is not None], ("file", "line", "function"), "bytes") == column(in_lines, ("file", "line", "function"), "bytes_at_peak")


@pytest.mark.parametrize("name", CAPTURES)
def test_waste_is_what_devices_say(query, show, name):
    rows = query("waste", name)["rows"]
    devices = [device for device in show(name)["devices"] if device.get("reserved_bytes_at_peak")]
    assert {(row["process"], row["device"]): row["waste_at_peak_bytes"] for row in rows} == {
        (device["process"], device["device"]): device["reserved_bytes_at_peak"] - device["peak_allocated_bytes"] for device in devices}
    assert name not in ("cuda", "four") or rows


@pytest.mark.parametrize("name", [one for one in CAPTURES if one != EVICTED])
def test_lives_are_of_every_block(query, show, name):
    rows = query("block_lives", name)["rows"]
    devices = show(name)["devices"]
    assert sum(row["blocks"] for row in rows) == sum(device["allocations"] for device in devices)
    assert sum(row["bytes"] for row in rows) == sum(device["allocated_bytes"] for device in devices)
    assert sum(row["blocks"] for row in rows if row["life"] == "live at the end") == sum(device["live_blocks_at_end"] for device in devices)


@pytest.mark.parametrize("name", ["trained", "many_ranks", "four"])
def test_growth_is_what_is_live_when_steps_begin(tree, captures, query, name):
    rows = query("growth_per_step", name)["rows"]
    assert rows
    for row in rows[:: max(1, len(rows) // 5)]:
        devices = document(tree, "show", "--json", "--at", f"{row['begin_ns']}ns", "--rank", row["rank"], captures[name])["devices"]
        live = [device["live_bytes"] for device in devices if device["device"] == row["device"]]
        assert live == [row["live_bytes"]] or (not live and row["live_bytes"] == 0)
    for before, row in zip(rows, rows[1:]):
        same = (before["process"], before["device"]) == (row["process"], row["device"])
        assert row["grown_bytes"] == (row["live_bytes"] - before["live_bytes"] if same else None)


# When the steps of a process begin.
SHAPES = {
    "no step": lambda _: [],
    "one step": lambda chance: [chance.randint(0, 1000)],
    "even": lambda chance: [chance.randint(0, 1000) + 100 * number for number in range(30)],
    "uneven": lambda chance: sorted(chance.randint(0, 10**12) for _ in range(10)),
    "at one instant": lambda chance: [chance.randint(0, 1000)] * 5,
    "a nanosecond apart": lambda chance: [1000 + number for number in range(chance.randint(2, 5))],
    "some at the same time": lambda chance: sorted(chance.randint(0, 8) for _ in range(12)),
    "short before a pause": lambda chance: [*sorted(chance.randint(0, 300) for _ in range(60)), 10**9],
    "short after a pause": lambda chance: [-5, *sorted(chance.randint(10**9, 10**9 + 300) for _ in range(60))],
}


def made_up_tables(chance):
    """Of ranks with two processes each: rows of `ranks`, `summary`, `steps` and `blocks`. Much happens at the very time at which a step begins."""
    made = {"ranks": [], "summary": [], "steps": [], "blocks": []}
    for process, shape in enumerate([*SHAPES.values()] * 2):
        begins = shape(chance)
        made["ranks"].append((process, None if process < 2 else process // 2))
        made["steps"] += [(process, number + 1, begin) for number, begin in enumerate(begins)]
        devices = ["cpu", "cuda:0", "cuda:1"][: chance.randint(1, 3)]
        made["summary"] += [(process, None if process < 2 else process // 2, device) for device in devices]
        span = [min(begins, default=0) - 10, max(begins, default=0) + 10]
        for _ in range(chance.choice([0, 1, 200])):
            times = sorted(chance.choice(begins) + chance.randint(-1, 1) if begins and chance.random() < 0.6 else chance.randint(*span) for _ in range(2))
            made["blocks"].append((process, chance.choice(devices), times[0], chance.choice([None, times[1], times[1]]), chance.choice([0, 1, 512, 2**40])))
    return made


def write_tables(made, folder):
    columns = {"ranks": "process BIGINT, rank BIGINT", "summary": "process BIGINT, rank BIGINT, device VARCHAR", "steps": "process BIGINT, step UBIGINT, begin_ns BIGINT",
               "blocks": "process BIGINT, device VARCHAR, allocated_ns BIGINT, freed_ns BIGINT, bytes BIGINT"}
    folder.mkdir()
    for name, rows in made.items():
        parts = [column.split() for column in columns[name].split(", ")]
        lists = [[row[place] for row in rows] for place in range(len(parts))]
        chosen = ", ".join(f"unnest(?::{kind}[]) AS {column}" for column, kind in parts)
        duckdb.execute(f"COPY (SELECT {chosen}) TO '{folder}/{name}.parquet'", lists)
    manifest = {"format": "memoir tables", "version": 1, "partitioned_by": None, "files": {name: (folder / f"{name}.parquet").stat().st_size for name in made}}
    (folder / "_memoir.json").write_text(json.dumps(manifest))


def plain_growth(made):
    """growth_per_step, counted for each step separately: an allocation or deallocation at the step's own time comes after it."""
    rows = []
    for process, rank, device in made["summary"]:
        blocks = [block[2:] for block in made["blocks"] if block[:2] == (process, device)]
        before = None
        for begin, step in sorted((begin, step) for of, step, begin in made["steps"] if of == process):
            live = sum(size for allocated, freed, size in blocks if allocated < begin and (freed is None or freed >= begin))
            rows.append({"rank": -1 if rank is None else rank, "process": process, "device": device, "step": step, "begin_ns": begin, "live_bytes": live,
                         "grown_bytes": None if before is None else live - before})
            before = live
    return sorted(rows, key=lambda row: [row[name] for name in ("rank", "process", "device", "begin_ns", "step")])


@pytest.mark.parametrize("seed", range(5))
def test_growth_is_that_of_a_plain_count(query, tables, seed):
    made = made_up_tables(random.Random(seed))
    write_tables(made, tables / f"made up {seed}")
    found, counted = query("growth_per_step", f"made up {seed}")["rows"], plain_growth(made)
    assert len(counted) > 500 and any(row["grown_bytes"] for row in counted)
    assert found == counted


def test_the_odd_rank_and_the_skew_of_a_job(query, show):
    """Rank 2 has four times the data."""
    peaks = {device["rank"]: device["peak_allocated_bytes"] for device in show("four")["devices"] if device["device"].startswith("cuda")}
    median = sorted(peaks.values())[1]  # three are equal
    first = query("odd_rank", "four")["rows"][0]
    assert (first["rank"], first["device"], first["ranks"], first["median_bytes"]) == (2, "cuda:2", 4, median)
    assert first["off_bytes"] == peaks[2] - median > 0
    held = column(query("peak_by_category", "four")["rows"], ("rank", "device", "category"), "bytes")
    assert first["of_that_bytes"] == held[2, "cuda:2", first["most_in"]] - held[1, "cuda:1", first["most_in"]] > 0
    skew = next(row for row in query("skew", "four")["rows"] if row["device"] == "cuda")
    assert (skew["ranks"], skew["least_bytes"], skew["most_bytes"], skew["most_on_rank"]) == (4, min(peaks.values()), max(peaks.values()), 2)
    assert skew["spread_bytes"] == first["off_bytes"]
    of_role = query("peak_by_role", "four")["rows"]
    assert {row["role"] for row in of_role} == {0}
    assert sum(row["bytes"] for row in of_role if row["device"] == "cuda") == sum(peaks.values())
    odd = query("odd_rank", "many_ranks")["rows"][0]  # of 200 ranks 117 keeps what it makes
    assert odd["rank"] == 117 and odd["off_bytes"] > 0


@pytest.mark.parametrize("name", ["trained", "four"])
def test_a_capture_is_as_good_as_its_tables(tree, query, captures, name):
    for one in ("peak_by_category", "growth_per_step"):
        answer = document(tree, "query", one, captures[name], "--json", "--python", sys.executable)
        assert answer == query(one, name)


def test_a_table_prints_categories_as_show_does(queries, query, tree, captures):
    from _torch_memoir.queries import _text

    shown = run(tree, "show", "--by", "category", captures["trained"]).stdout
    for name, column in (("peak_by_category", "category"), ("peak_by_role", "category")):
        answer = query(name, "trained")
        words = [row[column].lower().replace("_", " ") for row in answer["rows"]]
        text = _text.table(answer["columns"], answer["rows"], 0)
        assert "OPTIMIZER_STATE" in {row[column] for row in answer["rows"]} and "optimizer state" in text
        assert all(word in text and word in shown for word in words) and not any(row[column] in text for row in answer["rows"]), text
    assert "autograd detail" in _text.table(["rank", "most_in"], [{"rank": 1, "most_in": "AUTOGRAD_DETAIL"}], 0)


@pytest.mark.parametrize("width", [80, 40])
def test_a_table_fits_the_terminal(queries, query, monkeypatch, width):
    from _torch_memoir.queries import _text

    monkeypatch.setenv("COLUMNS", str(width))
    for name in NAMES:
        answer = query(name, "four")
        text = _text.table(answer["columns"], answer["rows"], 3)
        lines = [line for line in text.splitlines() if not line.startswith(("also: ", "... and "))]
        assert len(lines) == 1 + min(3, len(answer["rows"])) and all(len(line) <= width for line in lines), text
        assert ("more rows: --top 0" in text) == (len(answer["rows"]) > 3)


def test_a_query_of_ones_own(tree, tables, tmp_path):
    (tmp_path / "mine.sql").write_text("-- it's mine; of 'blocks'\nSELECT rank, count(*) AS calls FROM peak_blocks GROUP BY rank ORDER BY rank;\n")
    answer = document(tree, "query", tmp_path / "mine.sql", tables / "four", "--json", "--python", sys.executable)
    assert [row["rank"] for row in answer["rows"]] == [0, 1, 2, 3]
    (tmp_path / "bar.sql").write_text("SELECT current_setting('enable_progress_bar') AS drawn")
    bar = document(tree, "query", tmp_path / "bar.sql", tables / "four", "--json", "--python", sys.executable)
    assert bar["rows"] == [{"drawn": False}], "a query of more than two seconds would draw into its answer"
    (tmp_path / "wrong.sql").write_text("SELECT nothing FROM blocks")
    done = run(tree, "query", tmp_path / "wrong.sql", tables / "four", "--python", sys.executable)
    assert done.returncode == 1 and done.stderr.startswith("memoir: wrong.sql: Binder Error") and done.stderr.count("\n") == 1


def test_files_and_manifest_say_the_version(tables):
    for name in ("trained", "four"):
        manifest = json.loads((tables / name / "_memoir.json").read_text())
        assert (manifest["format"], manifest["version"], manifest["partitioned_by"]) == ("memoir tables", 1, {"trained": None, "four": "rank"}[name])
    file = tables / "four" / "blocks" / "rank=2" / "blocks.parquet"
    pairs = duckdb.sql(f"SELECT decode(key), decode(value) FROM parquet_kv_metadata('{file}')").fetchall()
    assert pairs == [("memoir.tables", "1")]
    whole = duckdb.sql(f"SELECT rank, count(*) FROM '{tables}/four/blocks/*/*.parquet' GROUP BY rank ORDER BY rank").fetchall()
    assert [int(rank) for rank, _ in whole] == [0, 1, 2, 3]
