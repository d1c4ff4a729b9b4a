"""Reports of captures that tests write, and of a program that was killed: every view opens, whatever they lack."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest
from test_report_page import BROWSER, HERE, SIDE_BY_SIDE, browser, memoir, of_page, shown  # noqa: F401  # a fixture is used by its name


@pytest.mark.skipif("MEMOIR_WRITE_SAMPLES" not in os.environ, reason="MEMOIR_WRITE_SAMPLES does not name the program that writes samples; ctest does")
def test_more_ranks_than_there_are_rows(tree, browser, tmp_path):
    (tmp_path / "samples").mkdir()
    subprocess.run([os.environ["MEMOIR_WRITE_SAMPLES"], tmp_path / "samples"], check=True, capture_output=True)
    report = tmp_path / "report.html"
    assert memoir(tree, "report", tmp_path / "samples/many_ranks", "-o", report).returncode == 0
    seen = of_page(report, SIDE_BY_SIDE)
    assert len(seen["rows"]) == 128 and len(set(seen["rows"])) == 128
    assert seen["odd"] == ["rank 117 cpu"]
    assert "1 rank of 200 stands out" in seen["note"] and "Shown are the 128 of 200" in seen["note"]
    # The median covers all ranks: most of the shown ones differ from it as much as any.
    assert sum(int(name.split()[1]) % 5 in (0, 4) for name in seen["rows"]) == 80, "all whose peak is 2 MiB from it"


KILLED = """
import os, signal, torch
kept = [torch.zeros(1000) for _ in range(10)]
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_lost_nothing_and_says_how_it_ended(tree, browser, tmp_path):
    program, capture, report = tmp_path / "killed.py", tmp_path / "capture", tmp_path / "report.html"
    program.write_text(KILLED)
    memoir(tree, "run", "-o", capture, "--", sys.executable, program)
    assert memoir(tree, "report", capture, "-o", report).returncode == 0
    title, text = of_page(report, "[await page.textContent('.lost h2'), await page.textContent('.lost pre')]")
    assert "All events were recorded, but" in title
    assert "killed by signal 9 (SIGKILL); all events until then are in the capture" in text
    assert " ".join(text.split()) in " ".join(memoir(tree, "show", capture).stdout.split()), "as memoir show says it"


def views_of(tree, capture):
    kinds = collections.Counter(device["device"].split(":")[0] for device in shown(tree, capture)["devices"])
    return 9 + any(count > 1 for count in kinds.values())  # and the ranks, side by side


@pytest.mark.skipif("MEMOIR_WRITE_SAMPLES" not in os.environ, reason="MEMOIR_WRITE_SAMPLES does not name the program that writes samples; ctest does")
def test_every_sample_opens(tree, browser, tmp_path):
    """Captures without events, with damage, drops, several ranks, evicted parts ...: every view opens, quietly."""
    (tmp_path / "samples").mkdir()
    subprocess.run([os.environ["MEMOIR_WRITE_SAMPLES"], tmp_path / "samples"], check=True, capture_output=True)
    reports = []
    for sample in sorted((tmp_path / "samples").iterdir()):
        report = tmp_path / f"{sample.name}.html"
        made = memoir(tree, "report", sample, "-o", report)
        assert made.returncode == 0, made.stderr
        reports.append(report)
    done = subprocess.run(["node", HERE / "open_all.mjs", *reports], capture_output=True, text=True, timeout=280, env=BROWSER)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert len(seen) == len(reports) > 10
    for report, of in seen.items():
        assert of["said"] == [] and of["requests"] == [], report
        assert of["views"] == views_of(tree, tmp_path / "samples" / pathlib.Path(report).stem) or "No allocation was recorded" in of["failed"], report
    assert any(of["failed"] for of in seen.values())
    first = {pathlib.Path(report).stem: of["first"] for report, of in seen.items()}
    assert "Not everything was recorded" in first["losses"], "what is missing stands first"
    assert "The peak by category" in first["training"]
