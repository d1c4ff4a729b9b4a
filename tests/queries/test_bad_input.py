"""Folders of tables that are not whole, of another version or of something else, and machines without an engine."""

import json
import shutil
import sys

import pytest

from conftest import document, run

pytest.importorskip("duckdb", reason="setup/requirements.txt has it, for Python 3.11 and later")


@pytest.fixture
def folder(tree, samples, tmp_path):
    """Tables for four ranks, two of them restarted, and a process without a rank: 200 ranks would take long."""
    done = run(tree, "export", "parquet", samples / "job", "-o", f"{tmp_path / 'tables'}/")
    assert done.returncode == 0, done.stderr
    return tmp_path / "tables"


@pytest.fixture
def ask(tree, folder):
    def ask(*options, data=folder, name="peak_by_category"):
        return run(tree, "query", name, data, "--python", sys.executable, *options)

    return ask


def change(folder, **changes):
    path = folder / "_memoir.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def one_line(done, code=1):
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("memoir: see ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize("version, words", [(2, "a newer Memoir (tables of version 2, these queries know 1)"), (0, "an older Memoir")])
def test_another_version(folder, ask, version, words):
    change(folder, version=version, files=None)
    assert words in one_line(ask())


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"format": "memoir tables", "version": 1}', '{"format": "memoir tables", "version": 1, "files": {"blocks": "x"}}', "[" * 100_000])
def test_a_manifest_that_is_none(folder, ask, text):
    (folder / "_memoir.json").write_text(text)
    assert "_memoir.json is damaged, or of another program" in one_line(ask())


def test_no_manifest(folder, ask):
    (folder / "_memoir.json").unlink()
    assert "has no _memoir.json: it was not written by `memoir export parquet`" in one_line(ask())


def remove(file):
    file.unlink()


def cut(file):
    file.write_bytes(file.read_bytes()[:-20])


def overwrite(file):
    file.write_bytes(b"x" * file.stat().st_size)


@pytest.mark.parametrize("harm, words", [(remove, "is missing"), (cut, "is damaged: it has 2,324 bytes of 2,344"), (overwrite, "is damaged")])
def test_a_rank_that_is_not_whole_is_left_out_and_said(folder, ask, harm, words):
    harm(folder / "blocks" / "rank=2" / "blocks.parquet")
    done = ask("--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["left_out_ranks"] == [2]
    assert {row["rank"] for row in found["rows"]} == {-1, 0, 1, 3}
    line, = done.stderr.splitlines()
    assert words in line and line.endswith(": rank 2 is left out")
    assert json.loads(ask("--json", name="waste").stdout)["left_out_ranks"] == [], "which needs no blocks"


def test_half_of_the_ranks_are_gone(folder, ask):
    for rank in (0, 1, 2):
        shutil.rmtree(folder / "blocks" / f"rank={rank}")
    done = ask("--json")
    assert json.loads(done.stdout)["left_out_ranks"] == [0, 1, 2] and done.stderr.count("is left out") == 3
    shutil.rmtree(folder / "blocks")
    assert "no rank is whole" in ask().stderr


def test_damage_inside_of_a_file(folder, ask):
    """Which only a reader of all of it can find."""
    file = folder / "blocks" / "rank=2" / "blocks.parquet"
    content = bytearray(file.read_bytes())
    content[8:1500] = b"\xff" * 1492
    file.write_bytes(content)
    line = one_line(ask())
    assert line.startswith(f"memoir: {file}: ") and line.endswith("; export it again")


def test_ranks_that_were_not_recorded_are_said(tree, samples, tmp_path, ask):
    gone = tmp_path / "gone"
    shutil.copytree(samples / "many_ranks", gone)
    for file in [*gone.glob("r00003.*"), *gone.glob("r00004.*"), *gone.glob("r00007.*")]:
        file.unlink()
    done = ask("--json", data=gone, name="skew")
    assert done.stderr.splitlines()[-1] == "memoir: not recorded: ranks 3-4, 7" and json.loads(done.stdout)["missing_ranks"] == [3, 4, 7]


def test_tables_that_were_not_exported(tree, samples, tmp_path, ask):
    assert run(tree, "export", "parquet", "--tables", "ranks,summary", samples / "job", "-o", tmp_path / "some/").returncode == 0
    assert "the table blocks is not there; export all tables" in one_line(ask(data=tmp_path / "some"))
    assert ask(data=tmp_path / "some", name="waste").returncode == 0


def test_names_of_folders(tree, samples, tmp_path, ask):
    """Which engines and shells take for patterns."""
    for name in ("a b", "x[1]*?", "it's", "模型", "rank=9", "-o"):
        data = tmp_path / name
        assert run(tree, "export", "parquet", samples / "job", "-o", f"{data}/").returncode == 0
        done = ask("--json", data=data)
        assert done.returncode == 0, done.stderr
        assert {row["rank"] for row in json.loads(done.stdout)["rows"]} == {-1, 0, 1, 2, 3}


def test_no_such_data(tmp_path, ask):
    assert "nowhere: no such file or folder" in one_line(ask(data=tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    assert "an empty folder, not a capture" in one_line(ask(data=tmp_path / "empty"))


def test_names_that_are_not_trusted(tree, samples, ask):
    done = ask(data=samples / "odd_names", name="top_operators")
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\\x1b[31malert" in done.stdout


def test_usage(tree, folder):
    for options, words in (
        (("peak_by_categry", folder), "there is no query 'peak_by_categry'; did you mean peak_by_category?"),
        (("skew", folder, "--engine", "sqlite"), "--engine sqlite: engines are duckdb and spark"),
        (("skew",), "no data given"),
        (("--json",), "no query given"),
        (("skew", folder, "--sql"), "--sql prints the query's text"),
    ):
        assert words in one_line(run(tree, "query", *options), 2)
    assert "cannot read /no/such.sql" in one_line(run(tree, "query", "/no/such.sql", folder))


def test_a_machine_without_an_engine(tree, folder, tmp_path):
    """One line names the package to install, and queries can still be listed and read."""
    bare = tmp_path / "bare" / "python3"
    bare.parent.mkdir()
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    bare.chmod(0o755)
    nothing = {"PATH": str(bare.parent), "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
    line = one_line(run(tree, "query", "skew", folder, environment=nothing))
    assert line == f"memoir: this query needs a Python with the package duckdb, and {bare} has not: pip install duckdb, or name another Python with --python"
    assert "package pyspark" in one_line(run(tree, "query", "skew", folder, "--engine", "spark", environment=nothing))
    assert "there is no Python here" in one_line(run(tree, "query", "skew", folder, environment={**nothing, "PATH": ""}))
    assert "there is no such program" in one_line(run(tree, "query", "skew", folder, "--python", "/no/python"))
    assert run(tree, "query", environment=nothing).returncode == 0
    assert run(tree, "query", "skew", folder, environment={**nothing, "VIRTUAL_ENV": sys.prefix}).returncode == 0


def test_twice_is_the_same(tree, samples, tmp_path):
    """Also of a job."""
    written = []
    for name in ("one", "two"):
        assert run(tree, "export", "parquet", samples / "job", "-o", f"{tmp_path / name}/").returncode == 0
        written.append({file.relative_to(tmp_path / name): file.read_bytes() for file in (tmp_path / name).rglob("*") if file.is_file()})
    assert written[0] == written[1]
    assert document(tree, "show", "--json", samples / "job")
