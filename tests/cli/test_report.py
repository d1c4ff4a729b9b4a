"""memoir report: its file, and its messages where it can write none. tests/browser checks the page."""

import base64
import json
import re
import resource
import shutil
import signal
import subprocess
import zlib

import pytest

PAGE = "<title><!--memoir:title--></title><!--memoir:sections--><p>end</p>"


def test_without_the_page_names_the_fix(memoir, samples, one_line):
    done = memoir("report", samples / "training")
    assert done.returncode == 1
    line = one_line(done)
    assert "report.html is not there" in line
    assert "nodejs and npm" in line and "wheel" in line


def test_writes_a_file_named_after_the_capture(memoir, samples, page, tmp_path):
    done = memoir("report", samples / "training")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("memoir: wrote training.html (")
    text = (tmp_path / "training.html").read_text()
    assert text.startswith("<title>Memoir: ") and text.endswith("<p>end</p>")
    assert text.count('<script type="application/octet-stream" id="facts">') == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["training.html"]


def test_a_part_has_a_name_and_a_title_of_its_own(memoir, samples, page, tmp_path):
    done = memoir("report", "--steps", "1:3", "--min-size", "1MiB", samples / "training")
    assert done.returncode == 0, done.stderr
    assert "wrote training-steps-1-3-min-size-1MiB.html (" in done.stderr and "), of steps 1:3 of 3, blocks of 1.0 MiB or more; open it" in done.stderr
    head = (tmp_path / "training-steps-1-3-min-size-1MiB.html").read_text().partition("</title>")[0]
    assert head.endswith("training (part: steps 1:3 of 3, blocks of 1.0 MiB or more)")
    facts = re.search(r'id="facts">([^<]*)<', (tmp_path / "training-steps-1-3-min-size-1MiB.html").read_text())[1]
    facts = json.loads(zlib.decompress(base64.b64decode(facts), wbits=-15))
    assert facts["part"]["options"] == "--steps 1:3 --min-size 1MiB "
    assert all(finding["command"].startswith("memoir check ") and "--steps 1:3 " in finding["command"] for finding in facts["findings"]), facts["findings"]
    done = memoir("report", "--from", "2ms", "--to", "1s", samples / "training", "-o", "out.html")
    assert done.returncode == 0 and ", of 0.0020 s to 0.0" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (["--steps", "3:1"], "--steps 3:1: expected A:B"),
        (["--steps", "1:2", "--from", "1s"], "give one"),
        (["--from", "soon"], "--from soon: expected a time"),
        (["--from", "2s", "--to", "1s"], "--to is not later than --from"),
        (["--min-size", "lots"], "--min-size lots: expected a size"),
        (["--run", "first"], "--run first: expected the number of a run"),
    ],
)
def test_a_part_that_makes_no_sense(memoir, samples, page, one_line, options, message):
    done = memoir("report", *options, samples / "training")
    assert done.returncode == 2 and message in one_line(done)


def test_ranks_without_the_window_are_counted(memoir, samples, page, tmp_path):
    done = memoir("report", "--from", "1ms", "--to", "2ms", samples / "ranks", "-o", "out.html")
    assert done.returncode == 0, done.stderr


def test_every_sample_has_a_report(memoir, samples, page, tmp_path, one_line):
    for sample in sorted(samples.iterdir()):
        done = memoir("report", sample, "-o", "out.html")
        assert done.returncode in (0, 1), sample
        assert (tmp_path / "out.html").exists() == (done.returncode == 0), sample
        if done.returncode == 1:
            assert one_line(done)
        (tmp_path / "out.html").unlink(missing_ok=True)


def test_output_can_be_standard_output(memoir, samples, page):
    done = memoir("report", samples / "training", "-o", "-")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.endswith("<p>end</p>")


def test_a_title_is_text(memoir, samples, page, tmp_path):
    folder = tmp_path / "<script>&'\""
    shutil.copytree(samples / "training", folder)
    done = memoir("report", folder, "-o", "out.html")
    assert done.returncode == 0, done.stderr
    head = (tmp_path / "out.html").read_text().partition("</title>")[0]
    assert "<script>" not in head and "&lt;script&gt;" in head


@pytest.mark.parametrize("output, says", [("/dev/full", "make room there"), ("missing/out.html", "make its folder first"), (".", "name a file in it")])
def test_what_cannot_be_written_says_why(memoir, samples, page, one_line, output, says):
    done = memoir("report", samples / "training", "-o", output)
    assert done.returncode == 1
    assert says in one_line(done)


def test_a_full_disk_leaves_no_half_file_and_the_old_one(fake_tree, samples, page, tmp_path):
    page.write_text(PAGE + "x" * 1_000_000)
    (tmp_path / "out.html").write_text("the report of before")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run([fake_tree / "bin" / "memoir", "report", samples / "training", "-o", "out.html"], cwd=tmp_path, preexec_fn=limit,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "cannot write out.html" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    assert (tmp_path / "out.html").read_text() == "the report of before"


def test_a_damaged_page_is_said(memoir, samples, page, one_line, tmp_path):
    page.write_text("<p>nothing to fill in</p>")
    done = memoir("report", samples / "training", "-o", "out.html")
    assert done.returncode == 1 and "install Memoir again" in one_line(done)
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage(memoir, one_line):
    done = memoir("report")
    assert done.returncode == 2 and "no capture given" in one_line(done)
    assert memoir("report", "nothing-here").returncode == 1
