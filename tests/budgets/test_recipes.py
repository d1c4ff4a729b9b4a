"""The files of examples/ci: they parse, their commands exist in this Memoir, and docs/ci.md names each."""

import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples" / "ci").glob("*.yml"))


def load(name):
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    return yaml.safe_load((ROOT / "examples" / "ci" / name).read_text())


def commands():
    """Every command line of the recipes, as (file, words)."""
    github, gitlab, hook = load("github.yml"), load("gitlab.yml"), load("pre-commit.yml")
    yield from (("github.yml", step["run"]) for step in github["jobs"]["budgets"]["steps"] if "run" in step)
    yield from (("gitlab.yml", line) for line in gitlab["memory-budgets"]["script"])
    yield from (("pre-commit.yml", one["entry"]) for repo in hook["repos"] for one in repo["hooks"])


def test_they_have_what_each_system_wants():
    github, gitlab, hook = load("github.yml"), load("gitlab.yml"), load("pre-commit.yml")
    assert github[True] == ["pull_request"]  # YAML 1.1 reads `on` as true, and GitHub does not
    assert all("uses" in step or "run" in step for step in github["jobs"]["budgets"]["steps"]) and github["jobs"]["budgets"]["runs-on"]
    assert gitlab["memory-budgets"]["artifacts"]["reports"]["junit"] == "memory.xml" and all(isinstance(line, str) for line in gitlab["memory-budgets"]["script"])
    (repo,) = hook["repos"]
    assert repo["repo"] == "local" and {"id", "name", "entry", "language"} <= set(repo["hooks"][0]) and re.compile(repo["hooks"][0]["files"])


def test_captures_are_kept_where_the_tests_write_them():
    steps = load("github.yml")["jobs"]["budgets"]["steps"]
    (upload,) = [step for step in steps if "upload-artifact" in step.get("uses", "")]
    assert f"--memoir-dir {upload['with']['path']}" in " ".join(line for _, line in commands())
    assert load("gitlab.yml")["memory-budgets"]["artifacts"]["paths"] == [upload["with"]["path"]]


def test_pytest_takes_their_options(tree, tmp_path):
    """Each command line of pytest, run on one plain test in place of tests/memory."""
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n")
    lines = [shlex.split(line.removeprefix("python -m ")) for _, line in commands() if re.match(r"(python -m )?pytest ", line)]
    assert len(lines) == 3
    for _, *arguments in lines:
        arguments = [str(tmp_path) if one == "tests/memory" else one for one in arguments]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tree / "lib" / "memoir" / "python")}
        done = subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_page_names_each():
    page = (ROOT / "docs" / "ci.md").read_text()
    assert FILES and not [file.name for file in FILES if f"examples/ci/{file.name}" not in page]
