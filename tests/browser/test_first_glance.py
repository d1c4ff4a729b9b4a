"""The first screen of a report has the peak in a sentence, the findings by harm, and for a job the rank that matters."""

import re
import subprocess
import sys


from programs import RANKS, TRAINING
from test_report_page import browser, memoir, of_page

__all__ = ["browser"]  # a fixture

FIRST = """{
  device: await page.$eval("#chooser select", (select) => select.selectedOptions[0].textContent),
  sentence: await page.textContent(".sentence"),
  findings: await page.$$eval(".finding", (all) => all.map((one) => [one.className.replace("finding ", ""), one.querySelector("h3").textContent])),
  strip: await page.$$eval(".strip button", (all) => all.map((one) => [one.ariaLabel, one.className, one.ariaPressed])),
  clicked: await (async () => {
    if (!(await page.isVisible(".strip button"))) return null;
    await page.click(".strip button");
    await settle(page);
    return page.$eval("#chooser select", (select) => select.selectedOptions[0].textContent);
  })(),
}"""
ORDER = ["harmed", "look", "unknown", "fine"]


def first_screen(tree, folder, program):
    (folder / "program.py").write_text(program)
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", folder / "capture", "--", sys.executable, folder / "program.py"], timeout=300)
    assert done.returncode == 0
    assert memoir(tree, "report", folder / "capture", "-o", folder / "report.html").returncode == 0
    seen = of_page(folder / "report.html", f"(await settle(page), {FIRST})")
    answers = [ORDER.index(name) for name, _ in seen["findings"]]
    assert answers == sorted(answers)
    return seen


def test_a_program(tree, browser, tmp_path):
    seen = first_screen(tree, tmp_path, TRAINING)
    assert seen["device"] == "cuda:0" and seen["strip"] == []
    assert re.fullmatch(r"Peak [\d.]+ MiB of [\d.]+ GiB on cuda:0, step \d+: \d+(\.\d+)?% .+\.", seen["sentence"]), seen["sentence"]
    assert any(text.startswith("?leaks: not known: too few to tell what grows") for _, text in seen["findings"])


def test_a_job_begins_with_the_rank_that_leaks(tree, browser, tmp_path):
    seen = first_screen(tree, tmp_path, RANKS)
    assert seen["device"] == "rank 2 cuda:0"
    assert " on rank 2 cuda:0, step " in seen["sentence"]
    (leak,) = (text for name, text in seen["findings"] if name == "harmed")
    assert re.fullmatch(r"!leaks: program\.py:\d+.* on rank 2 cuda:0: \+[\d.]+ [KM]iB each step, .* steps", leak), leak
    assert [(name.partition(":")[0], odd, shown) for name, odd, shown in seen["strip"]] == [
        ("rank 0 cuda", "", "false"), ("rank 1 cuda", "", "false"), ("rank 2 cuda", "odd", "true")]
    assert seen["clicked"] == "rank 0 cuda:0"
