"""The flame graph: layers in numerical order, a legend, the height of the window, and matches of a search that keep what is inside of them."""

import subprocess
import sys

import pytest
from test_report_page import browser, memoir, of_page
from test_report_programs import LAYERS

__all__ = ["browser"]  # a fixture

SEEN = """await (async () => {
  await show(page, "flame");
  await page.click(".flame button[data-value=allocated]");
  await settle(page);
  const canvas = page.locator(".flame-box canvas");
  const box = await canvas.boundingBox();
  const row = Number(await canvas.getAttribute("data-row"));
  // The nodes of a row from left to right, with the middle of each.
  const nodesOf = async (depth) => {
    const nodes = [];
    for (let x = 1; x < box.width; x += 3) {
      await page.mouse.move(box.x + x, box.y + (depth + 0.5) * row);
      const [name, path] = await page.$$eval("#tip > *", (all) => [all[0]?.textContent, all[all.length - 1]?.textContent]);
      if (!(await page.isVisible("#tip")) || name === undefined) continue;
      if (nodes.at(-1)?.path === path) nodes.at(-1).last = x;
      else nodes.push({name, path, first: x, last: x});
    }
    return nodes;
  };
  const layers = (await nodesOf(2)).filter((node) => node.path.startsWith("layers ›"));
  const operators = (await nodesOf(3)).filter((node) => node.path.startsWith("layers ›"));
  const colourAt = (x, depth) => canvas.evaluate((canvas, [x, y]) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    return [...copy.getImageData(Math.round(x), Math.round(y), 1, 1).data].join();
  }, [x, depth * row + 3]);
  const inside = (number) => operators.find((node) => node.path.startsWith(`layers › ${number} ›`));
  const middle = (node) => (node.first + node.last) / 2;
  const colours = async () => [await colourAt(middle(inside(3)), 3), await colourAt(middle(inside(5)), 3)];
  const before = await colours();
  await page.fill(".flame .find", '"3"');
  await settle(page);
  return {
    layers: layers.map((node) => node.name),
    before, found: await colours(),
    legend: await page.$$eval(".flame .legend .entry", (all) => all.map((one) => one.textContent)),
    height: box.height, room: await page.evaluate(() => innerHeight),
  };
})()"""


@pytest.fixture(scope="module")
def layered(tree, browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flame")
    (folder / "program.py").write_text(LAYERS)
    assert subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", folder / "capture", "--", sys.executable, folder / "program.py"], timeout=300).returncode == 0
    assert memoir(tree, "report", folder / "capture", "-o", folder / "report.html").returncode == 0
    return folder / "report.html"


def test_the_flame_graph(layered):
    seen = of_page(layered, SEEN)
    assert seen["layers"] == [str(i) for i in range(14)]
    assert seen["legend"] == ["module", "operator"]
    assert seen["height"] > 0.4 * seen["room"], "it fills the window"
    assert seen["found"][0] == seen["before"][0], "an operator inside of the match keeps its colour"
    assert seen["found"][1] != seen["before"][1], "one that is not fades"


# The sizes of the pages of a printed view, in points.
PRINTED = """await (async () => {
  await show(page, "VIEW");
  const pdf = (await page.pdf({preferCSSPageSize: true})).toString("latin1");
  return [...pdf.matchAll(/MediaBox \\\\[0 0 ([0-9.]+) ([0-9.]+)\\\\]/g)].map((match) => [Number(match[1]), Number(match[2])]);
})()""".replace("\\\\", "\\")


def test_wide_tables_are_printed_across(layered):
    for view, is_wide in (("modules", True), ("timeline", False)):
        sizes = of_page(layered, PRINTED.replace("VIEW", view))
        assert sizes and all((width > height) == is_wide for width, height in sizes), (view, sizes)
