"""Reports of programs with more marks, steps or processes than most have, and without modules."""

import sys

import pytest
from test_report_page import browser, memoir, of_page, shown  # noqa: F401  # a fixture is used by its name

pytestmark = pytest.mark.usefixtures("browser")


def report_of(tree, folder, program, *options):
    script, capture, report = folder / "program.py", folder / "capture", folder / "report.html"
    script.write_text(program)
    done = memoir(tree, "run", "-q", *options, "-o", capture, "--", sys.executable, script)
    assert done.returncode == 0, done.stderr
    done = memoir(tree, "report", capture, "-o", report)
    assert done.returncode == 0, done.stderr
    return capture, report


# A process and one that it starts, of one rank. The report opens on the second, whose peak is higher.
TWO_PROCESSES = """
import subprocess, sys, torch
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
    kept = [torch.zeros(1_000_000) for _ in range(3)]
else:
    kept = [torch.ones(5_000_000) for _ in range(10)]
"""
TABLES = """{
  first: [(await page.keyboard.press("["), await settle(page), await page.getAttribute(".hero .peak", "title")), (await show(page, "operators"), await page.$eval(".rows tbody tr td[title$=bytes]", (one) => one.title))],
  second: (await page.keyboard.press("]"), await settle(page), [await page.$eval(".rows tbody tr td[title$=bytes]", (one) => one.title), (await show(page, "overview"), await page.getAttribute(".hero .peak", "title"))]),
  categories: await page.$$eval(".card.category td.number[title]", (all) => all.map((one) => Number(one.title.replace(/[^0-9]/g, "")))),
}"""


def test_each_process_has_its_own_numbers(tree, tmp_path):
    capture, report = report_of(tree, tmp_path, TWO_PROCESSES)
    document = shown(tree, "--by", "operator", capture)
    peaks = {device["process"]: device["peak_allocated_bytes"] for device in document["devices"]}
    assert len(peaks) == 2 and len({device["rank"] for device in document["devices"]}) == 1
    for process, peak in peaks.items():
        parts = [part for row in document["operators"] for part in row["devices"] if part["process"] == process]
        assert sum(part["bytes_at_peak"] for part in parts) == peak
    seen = of_page(report, TABLES)
    assert seen["first"][0] == seen["first"][1] and seen["second"][0] == seen["second"][1] != seen["first"][0]
    assert sum(seen["categories"]) == int(seen["second"][1].split()[0].replace(",", ""))


MARKED = """
import memoir, torch
kept = [torch.zeros(1 << 20, device="cuda")]
for i in range(70):
    memoir.mark(f"step {i}")
    kept.append(torch.ones(1 << 16, device="cuda"))
try:
    torch.empty(1 << 42, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
"""
CHIPS = """(await show(page, "timeline"), {
  few: await page.$$eval(".instant .chips button", (all) => all.map((one) => one.className)),
  left_out: await page.textContent(".instant .chips .left-out"),
  all: (await page.click(".all-instants"), await settle(page), await page.$$eval(".instant .chips button", (all) => all.map((one) => one.className))),
  note: await page.textContent(".timeline > .note"),
  segments: (await show(page, "segments"), await page.$$eval(".segments .chips button", (all) => all.map((one) => one.className))),
})"""


def test_marks_hide_no_error(tree, tmp_path):
    capture, report = report_of(tree, tmp_path, MARKED, "--simulate", "h100")
    assert len(shown(tree, capture)["out_of_memory"]) == 1
    seen = of_page(report, CHIPS)
    for few in (seen["few"], seen["segments"]):
        assert {"peak", "oom", "end"} <= set(few) and len(few) <= 26
    assert seen["all"].count("mark") == 64 and seen["all"].count("oom") == 1
    assert seen["left_out"] == "the first 64 of 70 marks"
    assert "The first 60 of 70 marks are drawn." in seen["note"]


MANY_STEPS = """
import memoir, torch
for i in range(66_000):
    memoir.step()
    y = torch.zeros(8)
"""


def test_all_steps_are_counted(tree, tmp_path):
    _, report = report_of(tree, tmp_path, MANY_STEPS)
    over_time, note = of_page(report, "[await page.locator('.card', {hasText: 'Over time'}).last().textContent(), (await show(page, 'timeline'), await page.textContent('.timeline > .note'))]")
    assert "66,000 steps" in over_time
    assert "Shown are the first 65,536 of 66,000 steps." in note


# No nn.Module, so no begin of a forward pass is known; and an evaluation behind the last step.
WITHOUT_MODULES = """
import time, torch
weight = torch.zeros(300, 300, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(4):
    x = torch.randn(600, 300)
    time.sleep(0.5)
    (x @ weight).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
for i in range(4):
    x = torch.randn(600, 300)
    time.sleep(0.5)
"""
BANDS = """(await show(page, "timeline"), await page.$eval(".bands canvas", (canvas) => {
  const of = (name) => {
    const probe = document.createElement("i");
    probe.style.color = getComputedStyle(document.documentElement).getPropertyValue(name);
    document.body.append(probe);
    const rgb = getComputedStyle(probe).color.match(/[0-9]+/g).map(Number);
    probe.remove();
    return rgb.join();
  };
  const {data, width} = canvas.getContext("2d").getImageData(0, 22, canvas.width, 1);
  const count = (name) => {
    const wanted = of(name);
    let found = 0;
    for (let i = 0; i < width; ++i) if ([...data.slice(4 * i, 4 * i + 3)].join() === wanted) ++found;
    return found / width;
  };
  return {optimizer: count("--phase-optimizer"), backward: count("--phase-backward"), all: data.filter((one, i) => i % 4 === 3 && one > 0).length / width};
}))"""


def test_an_optimizer_step_hides_no_phase(tree, tmp_path):
    _, report = report_of(tree, tmp_path, WITHOUT_MODULES)
    seen = of_page(report, BANDS)
    assert 0 < seen["all"] and seen["optimizer"] < 0.3, "it ends with the step"


LAYERS = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(14))
        self.conv3d = nn.Conv3d(1, 1, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.conv3d(x.reshape(1, 1, 8, 8, -1))

model = Model()
model(torch.randn(64, 64)).sum().backward()
"""
FOCUS = """{
  module: (await show(page, "modules"), await page.fill(".rows .find", "layers.3"), await page.locator(".rows tbody tr", {hasText: /^layers\\.3/}).first().click(), await settle(page), [await page.$$eval(".crumbs button", (all) => all.map((one) => one.textContent)), await page.inputValue(".flame .find")]),
  operator: (await show(page, "operators"), await page.locator(".rows tbody tr", {hasText: "aten::"}).first().click(), await settle(page), [await page.inputValue(".flame .find"), await page.textContent(".flame > .note")]),
}"""


def test_a_module_is_focused_by_its_path(tree, tmp_path):
    _, report = report_of(tree, tmp_path, LAYERS)
    seen = of_page(report, FOCUS)
    crumbs, find = seen["module"]
    assert crumbs == ["all", "layers", "3"] and find == ""
    find, note = seen["operator"]
    assert find.startswith('"aten::') and find in note and " matches " in note and "matches 0 B" not in note
