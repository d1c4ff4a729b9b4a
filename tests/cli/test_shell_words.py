"""Commands that are printed to be pasted are read by a shell as they are meant, and "--" ends the options of every verb."""

import re
import shlex
import shutil

import pytest

NAME = "a$(touch${IFS}x)"


def pasted(text):
    """The paths in commands of memoir that `text` has, as they are printed."""
    return [word.rstrip(".,;:`\"}") for word in re.findall(r"memoir [a-z]+ [^\n`]*?(\S*touch\S*)", text)]


@pytest.mark.parametrize("sample, arguments", [
    ("cuda", ["check"]), ("cuda", ["check", "oom"]), ("cuda", ["check", "frag"]), ("cuda", ["show"]), ("training", ["show"]), ("cuda", ["check", "--brief"]),
    ("cuda", ["diff", "other"]), ("cuda", ["check", "--baseline", "other", "--fail-if", "peak_allocated>+1MiB"]), ("many_ranks", ["show"]), ("many_ranks", ["check", "ranks"]),
    ("cuda", ["check", "host"]), ("cuda", ["report", "-o", "-"]),
])
def test_paths_are_quoted(memoir, page, samples, tmp_path, sample, arguments):
    for name in (NAME, "other"):
        shutil.copytree(samples / sample, tmp_path / name)
    done = memoir(*arguments, NAME)
    assert done.returncode in (0, 3), done.stderr
    assert set(pasted(done.stdout + done.stderr)) <= {shlex.quote(NAME), shlex.quote(str(tmp_path / NAME))}, pasted(done.stdout + done.stderr)


def test_the_test_can_fail():
    assert pasted(f"more: memoir show {NAME}\n") == [NAME]
    assert pasted(f"run `memoir summarize --run 2 {shlex.quote(NAME)}`, or") == [shlex.quote(NAME)]


def test_sources_of_a_job_are_quoted(memoir, tmp_path):
    (tmp_path / NAME).mkdir()
    done = memoir("collect", "-o", "job", "--with", "true", NAME)
    assert f"run `memoir summarize {shlex.quote(NAME)}`" in done.stderr
    done = memoir("collect", "-o", "job", "--with", "true", f"node0:/{NAME}")
    assert f"run `memoir summarize {shlex.quote('/' + NAME)}` on node0" in done.stderr


def test_a_command_that_is_no_verb_is_quoted(memoir):
    assert f"to record a program: memoir run -- python3 {shlex.quote('a b')} {shlex.quote(NAME)}" in memoir("python3", "a b", NAME).stderr


@pytest.mark.parametrize("arguments", [
    "-- -run", "show -- -run", "check -- -run", "check -- oom -run", "diff -- other -run", "explain -- -run fc.weight", "export -- events -run",
    "report -o out.html -- -run", "summarize -- -run", "symbolize -- -run", "query -- peak_by_line -run", "live --once -- -run",
    "collect -o job --with true -- -run",
])
def test_words_after_two_dashes_are_no_options(memoir, page, samples, tmp_path, arguments):
    """A capture named -run is read, or named in an error."""
    for name in ("-run", "other"):
        shutil.copytree(samples / "training", tmp_path / name)
    done = memoir(*arguments.split())
    assert done.returncode != 2, done.stderr


def test_too_many_words_are_refused_after_two_dashes_too(memoir, samples):
    assert memoir("show", "--", samples / "training", "more").returncode == 2


def test_a_path_that_begins_with_a_dash_is_printed_as_no_option(memoir, samples, tmp_path):
    shutil.copytree(samples / "cuda", tmp_path / "-run")
    done = memoir("check", "oom", "--", "-run")
    assert done.returncode == 3 and "memoir show --at oom --by module ./-run\n" in done.stdout
