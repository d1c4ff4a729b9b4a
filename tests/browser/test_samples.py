"""The folder that `./dev samples` makes: a start page, and four reports of real runs whose first screens name what they are about."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from test_report_page import browser, of_page

__all__ = ["browser"]  # a fixture
MAKE = pathlib.Path(__file__).resolve().parents[2] / "examples/samples/make_samples.py"
SEEN = """await page.evaluate(() => ({
  sentence: document.querySelector(".sentence")?.textContent ?? "",
  cards: [...document.querySelectorAll(".card h2")].map((head) => head.textContent),
  findings: [...document.querySelectorAll(".findings li, .finding")].map((item) => item.textContent),
  text: document.body.innerText,
}))"""


@pytest.fixture(scope="module")
def samples(tree, browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples") / "site"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, MAKE, "--memoir", tree / "bin/memoir", folder], capture_output=True, text=True, timeout=900, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_start_page_leads_to_each_report(samples):
    links = re.findall(r'href="([^"]+)"', (samples / "index.html").read_text())
    assert sorted(links) == sorted(path.name for path in samples.iterdir() if path.name != "index.html")
    assert len(links) == 4
    assert "simulated" in (samples / "index.html").read_text()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("training", ["Peak", "activation", "SIMULATED"]),
        ("out-of-memory", ["out of memory", "checkpointing", "SIMULATED"]),
        ("one-rank-leaks", ["one_rank_keeps.py", "rank 3"]),
        ("compared", ["more than the", "SIMULATED"]),
    ],
)
def test_the_first_screen_names_it(samples, name, words):
    seen = of_page(samples / f"{name}.html", SEEN)
    text = seen["text"].lower()
    assert [word for word in words if word.lower() not in text] == [], json.dumps(seen)[:3000]
