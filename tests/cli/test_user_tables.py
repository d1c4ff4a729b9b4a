"""Tables of cards and workspaces that users write: what they say holds, and a mistake in one is refused before anything starts."""

import pytest

from fit_programs import fake, fit, fit_tree, one_paragraph  # noqa: F401 (fixtures)

MINE = "[mine]\nlike = t4\nname = Mine\nmemory = 30GiB\n"
MISTAKES = [
    ("memory = 30GiB\n", "line 1: expected [card], or below one: field = value"),
    ("[mine]\nlike = t4\nmemory = lots\n", "line 3: memory = lots: no such field or value"),
    ("[mine]\nlike = t5\n", "line 2: like = t5: no such field or value"),
    ("[mine]\nname = Mine\n\n[other]\nlike = t4\n", "line 1: [mine] lacks compute_capability"),
    ("[mine]\nlike = t4\nmemory = 30GiB\nmemory_most = 20GiB\n", "line 1: [mine] has a memory_most that is less than its memory"),
]


@pytest.fixture
def run(memoir, fit_tree, tmp_path):
    """run(options, variables): `memoir run` of a command that leaves a file."""

    def run(*options, **variables):
        done = memoir("run", "-q", *options, "--", "touch", "started", program=fit_tree / "bin/memoir", **variables)
        assert not (tmp_path / "started").exists(), "the command ran"
        return done

    return run


@pytest.mark.parametrize("text, words", MISTAKES)
def test_a_faulty_table_of_cards_is_refused(run, fit, one_line, tmp_path, text, words):
    (tmp_path / "mine.txt").write_text(text)
    for done in (run("--simulate", "t4", "--sim-profiles", "mine.txt"), run("--simulate", "t4", MEMOIR_SIM_PROFILES="mine.txt"),
                 run("--simulate", "mine", "--sim-profiles", tmp_path / "mine.txt", "-o", "capture"), fit("--gpu", "t4", "--sim-profiles", "mine.txt", "--", "touch", "started")):
        assert done.returncode == 2 and done.stdout == ""
        assert "--sim-profiles: " in one_line(done) and f"mine.txt: {words}; correct it: " in one_line(done) and "lib/memoir/simulated_gpus.txt" in one_line(done)
    assert not (tmp_path / "started").exists() and not (tmp_path / "capture").exists()


@pytest.mark.parametrize("name", ["none.txt", "folder"])
def test_a_table_that_cannot_be_read(run, one_line, tmp_path, name):
    (tmp_path / "folder").mkdir()
    done = run("--simulate", "t4", "--sim-profiles", name)
    assert done.returncode == 2 and f"--sim-profiles: cannot read {tmp_path / name}; check path and permissions" in one_line(done)


def test_a_faulty_formula_is_refused(run, one_line, tmp_path):
    (tmp_path / "formulas.txt").write_text("# mine\ncufft.smooth = elements *\n")
    done = run("--simulate", "t4", MEMOIR_SIM_WORKSPACES="formulas.txt")
    assert done.returncode == 2 and f"MEMOIR_SIM_WORKSPACES: {tmp_path / 'formulas.txt'}: line 2: cufft.smooth = elements *: no formula" in one_line(done)


def test_the_table_of_the_installation_is_whole(memoir, fit_tree, one_line):
    table = fit_tree / "lib/memoir/simulated_gpus.txt"
    kept = table.read_text()
    try:
        table.write_text(kept + "[new]\n")
        done = memoir("fit", "--", "true", program=fit_tree / "bin/memoir")
        assert done.returncode == 1 and "simulated_gpus.txt: line " in one_line(done) and "[new] lacks name; install Memoir again" in one_line(done)
    finally:
        table.write_text(kept)


def test_fit_takes_the_variable_and_both_names_of_the_option(memoir, fit, fit_tree, tmp_path):
    (tmp_path / "mine.txt").write_text(MINE)
    for options in (["--sim-profiles", "mine.txt"], ["--profiles", "mine.txt"]):
        assert "SIMULATED Mine (mine): fits: takes 8.30 GiB of " in fit("-q", *options, "--gpu", "mine", *fake("8000")).stderr
        assert "SIMULATED Mine (mine): fits" in fit("-q", *options, "--gpu", "all", *fake("8000")).stdout
    done = memoir("fit", "-q", "--gpu", "mine", *fake("8000"), program=fit_tree / "bin/memoir", MEMOIR_SIM_PROFILES="mine.txt")
    assert "SIMULATED Mine (mine): fits" in done.stderr
    assert "--sim-profiles" in memoir("fit", "--help").stdout and " --profiles" not in memoir("fit", "--help").stdout


def test_a_card_like_another_with_its_own_memory_has_no_other_driver(fit, tmp_path):
    """The range of drivers' totals for the other card does not apply to this one."""
    (tmp_path / "mine.txt").write_text("[t4]\nlike = t4\nmemory = 14909MiB\n")
    said = one_paragraph(fit("--sim-profiles", "mine.txt", "--gpu", "t4", *fake("14000")).stderr)
    assert "fits, barely: takes 14.2 GiB of 14.6 GiB" in said and "Drivers report" not in said
    assert "Drivers report 14.6 GiB to 14.8 GiB" in one_paragraph(fit("--gpu", "t4", *fake("14000")).stderr)
