"""Arrow and Parquet files of random columns: every reader finds in them what was put in, to the last bit."""

import json
import os
import subprocess

import pytest

REASON = "setup/requirements.txt has it, for Python 3.11 and later"
pyarrow = pytest.importorskip("pyarrow", reason=REASON)
polars = pytest.importorskip("polars", reason=REASON)
duckdb = pytest.importorskip("duckdb", reason=REASON)
import pyarrow.ipc  # noqa: E402
import pyarrow.parquet  # noqa: E402

PROGRAM = os.environ.get("RANDOM_TABLE")
# Of both formats 65,536 rows are a batch, a group of rows. 8 values are packed together.
ROWS = [0, 1, 7, 8, 9, 100, 1000, 65535, 65536, 65537, 70001, 140000]
CASES = [(seed, ROWS[seed % 7] if seed % 5 else ROWS[seed // 5 % len(ROWS)]) for seed in range(60)]


def written(tmp_path, seed, rows, form, longest_text=40):
    """The file, and its contents as a table of pyarrow."""
    path = tmp_path / f"{seed}.{form}"
    done = subprocess.run([PROGRAM, str(seed), str(rows), form, path, str(longest_text)], check=True, capture_output=True, text=True)
    columns, *lines = map(json.loads, done.stdout.splitlines())
    assert len(lines) == rows
    values = zip(*lines, strict=True) if lines else [[] for _ in columns]
    return path, pyarrow.table({name: pyarrow.array(column, kind) for (name, kind), column in zip(columns, values, strict=True)})


@pytest.mark.parametrize("seed, rows", CASES)
def test_readers_find_what_was_put_in(tmp_path, seed, rows):
    arrow, expected = written(tmp_path, seed, rows, "arrow")
    parquet, same = written(tmp_path, seed, rows, "parquet")
    assert same == expected
    in_arrow = pyarrow.ipc.open_file(arrow).read_all()
    in_arrow.validate(full=True)
    assert in_arrow.cast(expected.schema) == expected
    in_parquet = pyarrow.parquet.read_table(parquet)
    assert in_parquet.schema == in_arrow.schema and in_parquet == in_arrow
    assert polars.read_parquet(parquet).equals(polars.from_arrow(expected))
    assert duckdb.sql(f"SELECT * FROM '{parquet}'").to_arrow_table().cast(expected.schema) == expected


@pytest.mark.parametrize("seed, rows", [case for case in CASES if case[1] > 0])
def test_what_the_metadata_say(tmp_path, seed, rows):
    """By the least and the greatest number, and the number of NULLs, readers pass over groups of rows."""
    path, expected = written(tmp_path, seed, rows, "parquet")
    file = pyarrow.parquet.ParquetFile(path)
    begin = 0
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        assert 0 < group.num_rows <= 65536
        part = expected.slice(begin, group.num_rows)
        begin += group.num_rows
        for index, column in enumerate(part.columns):
            statistics, chunk = group.column(index).statistics, group.column(index)
            assert statistics.null_count == column.null_count and chunk.num_values == len(column)
            numbers = [] if column.type == pyarrow.string() else [value for value in column.to_pylist() if value is not None]
            assert (statistics.min, statistics.max) == (min(numbers), max(numbers)) if numbers else not statistics.has_min_max
    assert begin == rows == file.metadata.num_rows


def test_a_query_that_passes_over_groups(tmp_path):
    for seed, rows in CASES:
        if rows < 65536:
            continue
        path, expected = written(tmp_path, seed, rows, "parquet")
        for name in expected.column_names:
            if expected[name].type == pyarrow.string() or expected[name].null_count == rows:
                continue
            values = sorted(value for value in expected[name].to_pylist() if value is not None)
            for bound in (values[0], values[len(values) // 2], values[-1]):
                found = duckdb.sql(f"SELECT count(*) FROM '{path}' WHERE {name} >= {bound}").fetchall()
                assert found == [(sum(value >= bound for value in values),)], (seed, name)


def test_a_group_ends_where_its_texts_are_large(tmp_path):
    """So that memory is bounded: by rows alone a table of long texts would have no bound."""
    path, expected = written(tmp_path, 19, 20000, "parquet", longest_text=5000)
    file = pyarrow.parquet.ParquetFile(path)
    assert file.read().cast(expected.schema) == expected
    assert file.num_row_groups > 1 and all(file.metadata.row_group(number).total_byte_size < 40 << 20 for number in range(file.num_row_groups))
