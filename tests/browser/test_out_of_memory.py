"""The card of an out-of-memory error: the picture is to scale, its bytes add up, and `memoir check oom` prints the same remedies."""

import json
import re
import subprocess
import sys

import pytest
from programs import OUT_OF_MEMORY
from test_report_page import browser, memoir, of_page

__all__ = ["browser"]  # a fixture

LOOK = """{
  title: await page.textContent(".ran-out h2"),
  pieces: await page.$$eval(".device-bar div", (all) => all.map((one) => [one.dataset.name, Number(one.dataset.bytes)])),
  remedies: await page.$$eval(".remedies li > bdi", (all) => all.map((one) => one.textContent)),
  saved: await page.$$eval(".remedies .saved", (all) => all.map((one) => one.textContent)),
  dumps: await page.$$eval(".ran-out pre", (all) => all.length),
  boxes: await (async () => {
    const boxes = [];
    for (const width of [800, 1280, 1920]) {
      await page.setViewportSize({width, height: 800});
      await settle(page);
      boxes.push(await page.evaluate(() => {
        const box = (selector) => { const {left, right} = document.querySelector(selector).getBoundingClientRect(); return [left, right]; };
        return {bar: box(".device-bar"), fits: box(".request .fits"), missing: box(".request .missing"), card: box(".ran-out"), page: [0, innerWidth], scroll: document.documentElement.scrollWidth};
      }));
    }
    return boxes;
  })(),
  clicked: await (async () => { await page.click(".ran-out .primary"); await settle(page); return page.textContent(".headline h2"); })(),
}"""


@pytest.fixture(scope="module")
def refused(tree, browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    (folder / "program.py").write_text(OUT_OF_MEMORY)
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "--sim-memory", "1500MiB", "-o", folder / "capture", "--", sys.executable, folder / "program.py"]
    subprocess.run(command, timeout=300, capture_output=True)
    assert memoir(tree, "report", folder / "capture", "-o", folder / "report.html").returncode == 0
    return folder


def helps(text):
    """The remedies of `memoir check oom`, as one line."""
    lines = text[text.index("what helps") + len("what helps") :].split("\n\n")[0]
    return " ".join(lines.split())


def test_the_request_is_drawn_to_scale(tree, refused):
    checked = memoir(tree, "check", "oom", "--json", refused / "capture")
    (error,) = json.loads(checked.stdout)["out_of_memory"]
    seen = of_page(refused / "report.html", LOOK)
    total, asked = error["device_total_bytes"], error["asked_bytes"]
    pieces = dict(seen["pieces"])
    assert sum(pieces.values()) == total
    assert sum(pieces.get(row["name"], 0) for row in error["by_category"]) == error["allocated_bytes"]
    assert pieces["free on the device"] == error["device_free_bytes"]
    assert pieces["non-PyTorch memory"] == error["outside_torch_bytes"]
    missing = asked - max(error["device_free_bytes"], error["free"]["largest_hole_bytes"])
    assert missing > 0
    for box in seen["boxes"]:
        (left, right), (fits, fits_end), (over, over_end) = box["bar"], box["fits"], box["missing"]
        pixels = (right - left) / total
        assert abs(fits_end - right) <= 1.5 and abs(over - right) <= 1.5, "the request ends beyond the device"
        assert abs((fits_end - fits) - (asked - missing) * pixels) <= 1.5
        assert abs((over_end - over) - missing * pixels) <= 1.5
        assert over_end <= box["card"][1] and box["scroll"] <= box["page"][1]
    assert seen["dumps"] == 0
    assert re.search(r"a request of [\d.]+ MiB was refused, [\d.]+ MiB are missing", seen["title"]), seen["title"]
    assert " live at out of memory" in seen["clicked"]


def test_the_remedies_are_those_of_the_text(tree, refused):
    text = memoir(tree, "check", "oom", refused / "capture").stdout
    seen = of_page(refused / "report.html", LOOK)
    assert "; ".join(seen["remedies"]) == helps(text)
    assert seen["remedies"][0].startswith("checkpointing blocks.*")
    freed = re.search(r"[\d.]+ [KMG]iB", seen["remedies"][0]).group()
    assert seen["saved"][0].startswith(f"up to {freed}, ")
