"""The program's text below the table of lines: its bytes equal `memoir show`, and a file that has changed since the recording is not shown."""

import os
import subprocess
import sys
import time

import pytest
from programs import TRAINING
from test_report_page import browser, memoir, of_page, shown

__all__ = ["browser"]  # a fixture

SEEN = """await (async () => {
  await show(page, "lines");
  return page.evaluate(() => ({
    held: [...document.querySelectorAll(".source tr.held")].map((row) => ({
      bytes: row.cells[0].title, allocated: row.cells[1].title, line: Number(row.cells[2].textContent), text: row.cells[3].textContent})),
    missing: [...document.querySelectorAll(".source-card li")].map((item) => item.textContent),
    card: document.querySelector(".source-card") !== null,
  }));
})()"""


def record(tree, folder, program):
    (folder / "program.py").write_text(program)
    os.utime(folder / "program.py", (time.time() - 60,) * 2)
    command = [tree / "bin/memoir", "run", "-q", "--stacks", "python", "--simulate", "h100", "-o", folder / "capture", "--", sys.executable, folder / "program.py"]
    assert subprocess.run(command, timeout=300, check=False).returncode == 0


@pytest.fixture
def folder(tree, browser, tmp_path):
    """A folder with a program, and with its capture."""
    record(tree, tmp_path, TRAINING)
    return tmp_path


def seen(tree, folder, *options):
    assert memoir(tree, "report", *options, folder / "capture", "-o", folder / "report.html").returncode == 0
    return of_page(folder / "report.html", SEEN)


def test_bytes_are_in_the_margin_of_the_lines(tree, folder):
    text = TRAINING.splitlines()
    rows = {}
    for row in shown(tree, "--by", "line", "--device", "cuda:0", folder / "capture")["lines"]:
        if row["file"] == str(folder / "program.py"):
            of = rows.setdefault(row["line"], [0, 0])
            of[0] += row["bytes_at_peak"]
            of[1] += row["allocated_bytes"]
    exact = {line: [f"{count:,} bytes" if count else "" for count in of] for line, of in rows.items() if sum(of)}
    page = seen(tree, folder)
    held = {row["line"]: [row["bytes"], row["allocated"]] for row in page["held"] if row["bytes"] or row["allocated"]}
    assert held == exact and len(held) >= 3
    assert all(row["text"] == text[row["line"] - 1] for row in page["held"])
    assert page["missing"] == []


def test_a_file_that_has_changed_is_not_shown(tree, folder):
    (folder / "program.py").write_text("# changed\n" + TRAINING)
    page = seen(tree, folder)
    assert page["held"] == []
    assert page["missing"] == [f"{folder / 'program.py'}: it was changed after the recording began"]


def test_the_text_can_be_left_out(tree, folder):
    assert not seen(tree, folder, "--no-source")["card"]
    assert "randn" not in (folder / "report.html").read_text()
    assert memoir(tree, "export", "redacted", folder / "capture", "-o", folder / "redacted").returncode == 0
    assert memoir(tree, "report", folder / "redacted", "-o", folder / "report.html").returncode == 0
    assert of_page(folder / "report.html", SEEN)["held"] == []
    assert "randn" not in (folder / "report.html").read_text()


# The rows of Lines, each opened by its triangle.
CALLERS = """await (async () => {
  await show(page, "lines");
  const seen = [];
  for (const row of await page.$$(".rows tbody > tr:has(> td > .triangle)")) {
    await (await row.$(".triangle")).click();
    await page.waitForSelector(".details-row td > *");
    seen.push(await row.evaluate((row) => ({
      name: row.cells[0].querySelector("bdi").textContent, bytes: row.cells[1].title,
      chains: [...row.nextElementSibling.querySelectorAll(".callers tr")].map(({cells}) => [cells[0].title, cells[1].textContent])})));
    await (await row.$(".triangle")).click();
  }
  return {rows: seen, open: await page.$$eval(".details-row", (all) => all.length)};
})()"""
CALLED = TRAINING.replace("model(torch.randn", "run(torch.randn").replace("for step", "def run(x):\n    return model(x)\n\nfor step")


def test_a_row_opens_the_callers_of_its_line(tree, browser, tmp_path):
    record(tree, tmp_path, CALLED)
    assert memoir(tree, "report", tmp_path / "capture", "-o", tmp_path / "report.html").returncode == 0
    page = of_page(tmp_path / "report.html", CALLERS)
    rows = {row["name"]: row for row in page["rows"]}
    at_peak = {name: int(row["bytes"].removesuffix(" bytes").replace(",", "") or 0) for name, row in rows.items()}
    for name, row in rows.items():
        assert sum(int(of.removesuffix(" bytes").replace(",", "")) for of, _ in row["chains"]) == at_peak[name]
    lines = CALLED.splitlines()
    caller = next(i for i, line in enumerate(lines, 1) if "run(torch.randn" in line)
    called = f"program.py:{lines.index('    return model(x)') + 1} run"
    assert at_peak[called] > 0 and at_peak["(library workspace)"] > 0
    assert [chain for _, chain in rows[called]["chains"]] == [f"program.py:{caller} <module>"]
    assert [chain for _, chain in rows["(library workspace)"]["chains"]] == [f"program.py:{caller} <module> › {called}"]
    assert page["open"] == 0
