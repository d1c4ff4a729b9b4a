"""`memoir check --baseline`: more than a condition allows than in another recording, and who is to blame, for people and for reviews."""

import json
import shutil

import pytest


def check(memoir, *arguments, **variables):
    return memoir("check", "--device", "cpu", *arguments, **variables)


@pytest.fixture
def again(samples, tmp_path):
    """The same recordings, elsewhere."""
    return shutil.copytree(samples, tmp_path / "again")


def test_the_same_is_within_any_budget(memoir, samples, again):
    done = check(memoir, "--baseline", again / "training", "--fail-if", "peak_allocated>+0%", samples / "training")
    assert done.returncode == 0 and "--fail-if peak_allocated>+0%: passed, it is " in done.stdout and "(+0.00%)" in done.stdout
    assert "oom" not in done.stdout, "no check that was not asked for"


def test_more_fails_and_names_the_cause(memoir, samples):
    done = check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated_bytes>+10%", samples / "modules", COLUMNS=100)
    assert done.returncode == 3 and "FAILED, it is " in done.stdout and ", and was " in done.stdout
    assert "\n+7.0 MiB at the peak of cpu: Torch-Compiled Region: 0/0 in Critic (+3.0 MiB, temporary, new)\n" in done.stdout
    assert f"memoir diff {samples / 'training'} {samples / 'modules'}" in done.stdout
    assert check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated>+8MiB", samples / "modules").returncode == 0
    assert check(memoir, "--baseline", samples / "modules", "--fail-if", "peak_allocated>+0%", samples / "training").returncode == 0, "less is no failure"


def test_a_check_that_is_named_runs_beside_it(memoir, samples, again):
    done = memoir("check", "oom", "--device", "cpu", "--baseline", again / "training", "--fail-if", "peak_allocated>+0%", samples / "training")
    assert "no out-of-memory error" in done.stdout and "passed, it is" in done.stdout


def test_parts_of_the_memory(memoir, samples, again):
    def said(condition, capture="training", *options):
        return check(memoir, *options, "--fail-if", condition, samples / capture)

    assert "FAILED, it is " in said("category:temporary>1B", "modules").stdout
    assert "passed, it is 0" in said("category:gradient>1GiB").stdout
    assert "FAILED, it is " in said("module:Critic>1B", "modules").stdout
    done = said("category:activations>1B")
    assert done.returncode == 1 and "no category 'activations'; there are: " in done.stderr
    done = said("module:nosuch>1B", "modules")
    assert done.returncode == 1 and "not known: " in done.stderr and "nosuch" in done.stderr
    done = said("category:temporary>+0%", "modules", "--baseline", again / "modules")
    assert done.returncode == 0 and "(+0.00%)" in done.stdout


def test_markdown_for_a_review(memoir, samples, again):
    done = check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated>+1%", "--fail-if", "num_ooms>0", "--format", "markdown", samples / "modules")
    text = done.stdout
    assert text.startswith("### Memory: over the budget\n\n| condition | |\n|---|---|\n| `peak_allocated>+1%` | FAILED, it is ")
    assert "**+7.0 MiB at the peak of cpu: Torch-Compiled Region: 0/0 in Critic (+3.0 MiB, temporary, new)**" in text.replace("\\", "")
    assert "| before | now | difference |\n" in text and text.count("\n| `") >= 4
    assert "not known" in text and done.returncode == 1, "a GPU's figure of a host is not known"
    within = check(memoir, "--baseline", again / "training", "--fail-if", "peak_allocated>+1%", "--format", "markdown", samples / "training")
    assert within.returncode == 0 and within.stdout.startswith("### Memory: within the budget\n")


def test_names_of_a_capture_are_text_to_markdown(memoir, samples):
    text = check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated>+0B", "--format", "markdown", samples / "odd_names").stdout
    assert "<script" not in text and all(line.count("|") - line.count("\\|") in (0, 3, 5) for line in text.splitlines()), text


def test_annotations_of_github(memoir, samples):
    done = check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated>+1%", "--format", "github", samples / "modules")
    assert done.returncode == 3 and done.stdout.count("\n") == 1
    assert done.stdout.startswith("::error ") and "title=Memory budget::peak_allocated>+1%25: FAILED" in done.stdout and "%0A+7.0 MiB at the peak" in done.stdout
    assert check(memoir, "--fail-if", "peak_allocated>1TiB", "--format", "github", samples / "training").stdout.startswith("::notice title=Memory budget::")


def test_a_code_quality_report_of_gitlab(memoir, samples, again):
    def report(*arguments):
        return json.loads(check(memoir, "--baseline", again / "training", "--format", "gitlab", *arguments).stdout)

    (issue,) = report("--fail-if", "peak_allocated>+1%", samples / "modules")
    assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"} and issue["location"] == {"path": str(samples / "modules"), "lines": {"begin": 1}}, "no line is known"
    assert report("--fail-if", "peak_allocated>+1%", samples / "training") == []
    (again,) = report("--fail-if", "peak_allocated>+1%", samples / "modules")
    assert again["fingerprint"] == issue["fingerprint"]


def test_json(memoir, samples):
    report = json.loads(check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated>+1%", "--json", samples / "modules").stdout)
    (condition,) = report["fail_if"]
    assert condition["holds"] is True and report["baseline"]["headline"].startswith("+7.0 MiB at the peak of cpu: ")


@pytest.mark.parametrize(("arguments", "message"), [
    (["--baseline", "training"], "--baseline is for conditions: add --fail-if"),
    (["--fail-if", "peak_allocated>+1%"], "what is it compared with? Add --baseline CAPTURE"),
    (["--baseline", "training", "--fail-if", "peak_allocated>+1%"], "the baseline is the capture itself"),
    (["training", "--format", "gitlab", "--fail-if", "num_ooms>0"], "--format takes one capture"),
    (["--format", "html", "--fail-if", "num_ooms>0"], "expected text, markdown, github or gitlab"),
    (["--format", "github"], "--format is for conditions"),
    (["--format", "github", "--json", "--fail-if", "num_ooms>0"], "exclude each other"),
    (["--fail-if", "module>1GiB"], "expected module:NAME"),
    (["--fail-if", "peak_allocated:layers>1GiB"], "leave ':layers' out"),
    (["--fail-if", "peak_allocated>1%"], "+N% with --baseline"),
])
def test_refuses(memoir, samples, arguments, message):
    done = memoir("check", *[samples / word if word == "training" else word for word in arguments], samples / "training")
    assert done.returncode == 2 and message in " ".join(done.stderr.split()), done.stderr


def test_a_baseline_that_is_none(memoir, samples, one_line):
    done = check(memoir, "--baseline", "nowhere", "--fail-if", "peak_allocated>+1%", samples / "training")
    assert done.returncode == 1 and "--baseline: " in one_line(done) and "nowhere" in one_line(done)


def test_nothing_passes_that_is_not_known(memoir, samples, tmp_path):
    """A truncated part, unrecorded memory of a GPU, an evicted peak, a host where a GPU was meant: none of these passes a budget."""
    (part,) = (samples / "training").glob("*.memoir")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / part.name).write_bytes(part.read_bytes() + part.read_bytes()[:40])
    done = check(memoir, "--baseline", samples / "training", "--fail-if", "peak_allocated>+1%", tmp_path / "cut", COLUMNS=300)
    assert done.returncode == 1 and "not known: it is 10.0 MiB, and was 10.0 MiB (+0.00%) in what was recorded, but: damaged: " in done.stderr, done.stderr
    text = check(memoir, "--fail-if", "peak_allocated>1TiB", "--format", "markdown", tmp_path / "cut").stdout
    assert text.startswith("### Memory: not known\n") and "damaged" in text
    for capture, said in (("cuda_unknown", "CUDA memory is not known"), ("training", "no GPU memory is recorded; of the host's memory: --device cpu")):
        done = memoir("check", "--fail-if", "category:temporary>1TB", "--format", "github", samples / capture, COLUMNS=300)
        assert done.returncode == 1 and said in done.stderr and "::error " in done.stdout, done
    done = check(memoir, "--fail-if", "category:input>1MiB", samples / "folded_peak", COLUMNS=300)
    assert done.returncode == 1 and "was in parts that --max-size evicted" in done.stderr
