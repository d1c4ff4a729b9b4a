"""No line of text output is wider than the terminal, or than 80 columns without one. Exceptions: commands to be pasted, which are never broken, and longer
single words: paths, names. Errors and warnings on standard error are one line each, of any length.
"""

import os
import re
import sys
import unicodedata

import pytest

from fit_programs import fake, fit, fit_tree  # noqa: F401 (fixtures)

COMMAND = re.compile(r"\s*(and|more|next|see)?:?\s*memoir (show|check|explain|diff|report|export) ")
BY = ["operator", "module", "category", "category,module", "line", "parameter", "rank", "thread", "range", "shape", "leaf", "kernel", "checkpoint", "job"]
ANSWERS = {
    "show": [["show"], *(["show", "--by", by] for by in BY), ["show", "--tree"], ["show", "--over", "time"], ["show", "--over", "operators"],
             ["show", "--at", "peak"], ["show", "--at", "end", "--by", "module"], ["show", "--at", "peak", "--by", "segment"]],
    "check": [["check"], *(["check", name] for name in ("oom", "frag", "balance", "leaks", "host", "ranks"))],
}


def columns(line):
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in line)


def too_wide(text, width=80):
    return [line for line in text.splitlines() if columns(line) > width and " " in line.strip() and not COMMAND.match(line)]


@pytest.fixture
def here(samples, tmp_path):
    """Samples by short names, as a person types them."""
    for sample in samples.iterdir():
        os.symlink(sample, tmp_path / sample.name)
    return sorted(sample.name for sample in samples.iterdir())


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("verb", ANSWERS)
def test_answers_about_every_sample(memoir, here, verb, width):
    shown = 0
    for arguments in ANSWERS[verb]:
        for sample in here:
            done = memoir(*arguments, sample, **({} if width == 80 else {"COLUMNS": width}))
            assert done.returncode in (0, 1, 2, 3), done
            assert not too_wide(done.stdout, width), (arguments, sample, too_wide(done.stdout, width))
            shown += bool(done.stdout)
    assert shown > 2 * len(here)


def test_lives_of_blocks(memoir, here):
    shown = 0
    for sample in here:
        for subject in ("fc.weight", "aten::linear#0", "aten::mm#0", "0x10000"):
            done = memoir("explain", sample, subject)
            assert not too_wide(done.stdout), (sample, subject, too_wide(done.stdout))
            shown += bool(done.stdout)
    assert shown > len(here) // 2


def test_comparisons(memoir, here):
    shown = 0
    for one, other in zip(here, here[1:] + here[:1]):
        done = memoir("diff", one, other)
        assert not too_wide(done.stdout), (one, other, too_wide(done.stdout))
        shown += bool(done.stdout)
    assert shown > len(here) // 2


def test_what_works_on_this_machine(memoir, tmp_path):
    done = memoir("doctor", "--python", sys.executable, RANK=0, LD_PRELOAD="", NVTX_INJECTION64_PATH="/opt/profiler.so", MEMOIR_RING_SIZE="huge", MEMOIR_RING_DIR=tmp_path)
    lines = [line[22:].removeprefix("-> ") for line in done.stdout.splitlines() if columns(line) > 80]
    assert not [line for line in lines if " " in line.strip()], lines
    assert "told: variables" in done.stdout and "-> correct or unset it" in done.stdout


@pytest.mark.parametrize("arguments", [["--gpu", "h100"], ["--gpu", "t4"], ["--gpu", "all"], ["--gpu", "t4", "--vary", "NEED=12000:16000:1000"]])
def test_whether_it_fits(fit, arguments):
    done = fit(*arguments, *fake("{NEED}" if "--vary" in arguments else "20000"))
    assert "SIMULATED" in done.stdout + done.stderr
    assert not too_wide(done.stdout) and not too_wide(done.stderr), done
