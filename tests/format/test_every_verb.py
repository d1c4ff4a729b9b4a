"""Every verb answers on every sample: captures of every form that was ever written, and those that memoir_write_samples writes."""

import pathlib
import re
import shutil
import subprocess

import pytest

from every_verb import READ_NO_CAPTURE, commands
from keep_released import RELEASED

FINE, ERROR, FINDING = 0, 1, 3


def ends(program, words, folder):
    done = subprocess.run([program, *words], capture_output=True, text=True, errors="replace", timeout=300, cwd=folder)
    return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def failures(program, capture, folder):
    """Commands that fail: by a signal, with wrong usage, or without an answer that the capture has."""
    if capture.is_dir():
        folder /= capture.name
        shutil.copytree(capture, folder / "other")
    for words, may_fail in commands(capture, folder):
        code, last = ends(program, words, folder)
        if code not in (FINE, FINDING) and not (may_fail and code == ERROR and last.startswith("memoir: ")):
            yield f"{' '.join(map(str, words))}: exit code {code}: {last}"


@pytest.mark.parametrize("name", sorted(path.name for path in RELEASED.iterdir() if path.is_dir()))
def test_on_released_captures(name, tree, tmp_path):
    assert not list(failures(tree / "bin" / "memoir", RELEASED / name, tmp_path))


def test_on_samples(samples, tree, tmp_path):
    captures = [path for path in sorted(samples.iterdir()) if path.is_dir()]
    assert captures
    assert not [failure for capture in captures for failure in failures(tree / "bin" / "memoir", capture, tmp_path)]


def test_the_check_can_fail(tmp_path):
    program = tmp_path / "memoir"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o700)
    assert len(list(failures(program, pathlib.Path("capture"), tmp_path))) == len(commands("capture", tmp_path))


def help_of(tree, *verb):
    return subprocess.run([tree / "bin" / "memoir", *verb, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def test_no_verb_is_missing(tree, tmp_path):
    verbs = set(re.findall(r"^  ([a-z]+) {2,}\S", help_of(tree), re.MULTILINE))
    assert verbs - READ_NO_CAPTURE == {words[0] for words, _ in commands("capture", tmp_path)} - {"capture"}


def test_no_grouping_is_missing(tree, tmp_path):
    """The help of --by begins with the groupings of tables, `rows: operator, module or rank`; then come views, each as `; stack: what it is`."""
    text = " ".join(help_of(tree, "show").partition("--by TEXT")[2].partition("--own TEXT")[0].split())
    rows, *others = text.removeprefix("rows: ").split("; ")
    groupings = {*re.split(", | or ", rows), *(found[1] for other in others if (found := re.match(r"(\w+): ", other)))}
    assert groupings == {words[words.index("--by") + 1] for words, _ in commands("capture", tmp_path) if words[0] == "show" and "--by" in words}
