"""The same files on Spark give the same answers as on DuckDB: one session for all of them, in a separate environment (setup/requirements-spark.txt)."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import QUERIES, SAMPLES, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(os.environ.get("MEMOIR_SPARK_PYTHON") or ROOT / "build" / "venv-spark" / "bin" / "python")
NAMES = sorted(file.stem for file in QUERIES.glob("*.sql"))
CAPTURES = ("cuda", "job", "four")  # others add rows, not cases, and each query takes seconds
assert {*CAPTURES} < {*SAMPLES, "four"}
ARGUMENTS = "--master local[2] --conf spark.sql.codegen.wholeStage=false --conf spark.sql.shuffle.partitions=1 --conf spark.ui.enabled=false pyspark-shell"

# Asked: [[data, query], ...]. Answers of Spark, then of DuckDB.
ANSWER = """
import json, sys, tempfile
tree, asked = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, f"{tree}/lib/memoir/python")
from _torch_memoir import queries
from _torch_memoir.queries import _engines
folder = f"{tree}/lib/memoir/queries"
scratch = tempfile.mkdtemp()
spark = _engines.start("spark", scratch)
for data, name in asked:
    one = {"data": data, "sql": f"{folder}/{name}.sql", "views": f"{folder}/views", "program": f"{tree}/bin/memoir"}
    print(json.dumps([queries.run({**one, "engine": "spark"}, scratch, spark), queries.run({**one, "engine": "duckdb"}, scratch)]), flush=True)
"""


@pytest.fixture(scope="module")
def python():
    if not PYTHON.exists():
        pytest.skip("needs build/venv-spark: ./dev test --all makes it")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java: ./dev test --all installs it")
    return PYTHON


def answers(tree, python, asked):
    done = subprocess.run([python, "-c", ANSWER, tree, json.dumps(asked)], capture_output=True, text=True, timeout=3000, env={**os.environ, "PYSPARK_SUBMIT_ARGS": ARGUMENTS})
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_both_engines_say_the_same(tree, python, tables, tmp_path):
    odd = tmp_path / "it's [1] {a,b}*?"
    shutil.copytree(tables / "job", odd)
    (odd / "blocks" / "rank=1" / "blocks.parquet").unlink()
    asked = [[str(tables / data), name] for data in CAPTURES for name in NAMES]
    asked += [[str(tables / "folded"), "peak_by_category"]]  # whose peak is not all there
    asked += [[str(odd), "peak_by_category"], [f"file://{tables / 'four'}", "peak_by_category"]]
    found = answers(tree, python, asked)
    assert len(found) == len(asked)
    for (data, name), (spark, duckdb) in zip(asked, found, strict=True):
        assert (spark.pop("engine"), duckdb.pop("engine")) == ("spark", "duckdb")
        assert json.dumps(spark) == json.dumps(duckdb), (data, name)
    with_rows = {name for (_, name), (spark, _) in zip(asked, found, strict=True) if spark["rows"]}
    assert with_rows == set(NAMES), "a query that found nothing was not compared"
    assert found[-2][0]["left_out_ranks"] == [1]
    assert found[-1][0]["rows"] == next(spark for (data, name), (spark, _) in zip(asked, found, strict=True) if name == "peak_by_category" and data.endswith("four"))["rows"]


def test_by_the_command_line(tree, python, tables, tmp_path):
    """A table, an error of the query in one line, and no word of Spark's own log."""
    environment = {"PYSPARK_SUBMIT_ARGS": ARGUMENTS}
    done = run(tree, "query", "skew", tables / "four", "--engine", "spark", "--python", python, environment=environment)
    assert done.returncode == 0 and done.stdout.startswith("role  device") and not done.stderr
    (tmp_path / "wrong.sql").write_text("SELECT nothing FROM blocks")
    done = run(tree, "query", tmp_path / "wrong.sql", tables / "four", "--engine", "spark", "--python", python, environment=environment)
    assert done.returncode == 1 and done.stderr.startswith("memoir: wrong.sql: ") and "nothing" in done.stderr and done.stderr.count("\n") == 1


def test_no_java(tree, python, tables, tmp_path):
    done = run(tree, "query", "skew", tables / "four", "--engine", "spark", "--python", python, environment={"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert done.returncode == 1 and done.stderr == "memoir: Spark needs Java 17 or later, which is not here: install openjdk-17-jre-headless (Debian, Ubuntu), or set JAVA_HOME\n"
