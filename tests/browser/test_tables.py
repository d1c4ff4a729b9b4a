"""Tables: the layers of a model are one row that opens, the first column stays in view, and nothing is cut off without a hint."""

import subprocess
import sys

import pytest
from test_report_page import browser, memoir, of_page, shown
from test_report_programs import LAYERS

__all__ = ["browser"]  # a fixture


@pytest.fixture(scope="module")
def layered(tree, browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("layered")
    (folder / "program.py").write_text(LAYERS)
    assert subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", folder / "capture", "--", sys.executable, folder / "program.py"], timeout=300).returncode == 0
    assert memoir(tree, "report", folder / "capture", "-o", folder / "report.html").returncode == 0
    return folder


ROWS = """async (selector) => page.$$eval(`${selector} tr:not([hidden])`, (all) => all.flatMap((row) => row.cells.length < 2 || row.querySelector("th") ? [] : [{
  name: row.cells[0].querySelector("bdi").textContent, open: row.querySelector(".triangle")?.ariaExpanded ?? null, member: row.classList.contains("member"),
  bytes: Number(([...row.cells].map((cell) => cell.title).find((title) => /^[0-9,]+ bytes$/.test(title)) ?? "0").replace(/[^0-9]/g, "")),
}]))"""
MERGED = f"""await (async () => {{
  const rows = {ROWS};
  const click = async (selector) => {{ await page.locator(selector, {{hasText: "layers.*"}}).first().click(); await settle(page); }};
  const seen = {{overview: await rows(".card.module")}};
  await click(".card.module tr.merged");
  seen.overview_opened = await rows(".card.module");
  await show(page, "modules");
  seen.closed = await rows(".rows tbody");
  await click(".rows tr.merged");
  seen.opened = await rows(".rows tbody");
  await page.keyboard.press("Enter");
  await settle(page);
  seen.closed_again = await rows(".rows tbody");
  await page.fill(".rows .find", "layers.3");
  await settle(page);
  seen.filtered = await rows(".rows tbody");
  await page.fill(".rows .find", "");
  await page.click(".rows button[data-value=single]");
  await settle(page);
  seen.single = await rows(".rows tbody");
  await show(page, "parameters");
  seen.parameters = await rows(".rows tbody");
  return seen;
}})()"""


def test_layers_are_one_row_that_opens(tree, layered):
    modules = {row["name"]: row for row in shown(tree, "--by", "module", layered / "capture")["modules"]}
    layers = [f"layers.{i}" for i in range(14)]
    sum_of_layers = sum(modules[name]["bytes_at_peak"] for name in layers)
    seen = of_page(layered / "report.html", MERGED)
    for rows in (seen["overview"], seen["closed"], seen["closed_again"]):
        (merged,) = (row for row in rows if row["name"] == "layers.*")
        assert merged["open"] == "false" and merged["bytes"] == sum_of_layers > 0
        assert not any(row["name"] in layers for row in rows)
    for rows in (seen["overview_opened"], seen["opened"]):
        place = [row["name"] for row in rows].index("layers.*")
        assert rows[place]["open"] == "true" and rows[place]["bytes"] == sum_of_layers
        members = rows[place + 1 : place + 1 + sum(row["member"] for row in rows)]
        # At the peak of this program not every layer has live bytes; the overview has only those that do.
        expected = layers if rows is seen["opened"] else [name for name in layers if modules[name]["bytes_at_peak"] > 0]
        assert sorted(row["name"] for row in members) == sorted(expected)
        assert {row["name"]: row["bytes"] for row in members} == {name: modules[name]["bytes_at_peak"] for name in expected}
    assert [row["name"] for row in seen["filtered"]] == ["layers.3"]
    assert set(layers) < {row["name"] for row in seen["single"]} and not any("*" in row["name"] for row in seen["single"])
    assert {"layers.*.weight", "layers.*.bias"} <= {row["name"] for row in seen["parameters"]}


PINNED = """await (async () => {
  await page.setViewportSize({width: 800, height: 800});
  await show(page, "modules");
  const look = () => page.evaluate(() => {
    const box = document.querySelector(".rows .scroll-box");
    const scroll = box.querySelector(".scroll");
    const left = (cell) => cell.getBoundingClientRect().left - scroll.getBoundingClientRect().left;
    const [first, second] = document.querySelector(".rows tbody tr").cells;
    return {first: left(first), second: left(second), cut: [box.classList.contains("cut-left"), box.classList.contains("cut-right")],
            shadows: [getComputedStyle(first).boxShadow !== "none", getComputedStyle(box, "::after").opacity === "1"]};
  });
  const before = await look();
  await page.$eval(".rows .scroll", (scroll) => (scroll.scrollLeft = scroll.scrollWidth));
  await settle(page);
  return {before, after: await look()};
})()"""


def test_the_first_column_stays_and_cut_edges_have_a_shadow(layered):
    seen = of_page(layered / "report.html", PINNED)
    before, after = seen["before"], seen["after"]
    assert before["cut"] == before["shadows"] == [False, True]
    assert after["cut"] == after["shadows"] == [True, False]
    assert before["first"] == after["first"] == 0 and after["second"] < before["second"] - 50


# Elements whose content does not fit and that give no hint of it: neither a shadow, nor dots, nor a scroll bar of their own.
CUT = """await (async () => {
  const found = {};
  for (const width of [800, 1280, 1920]) {
    await page.setViewportSize({width, height: 900});
    for (const view of ["overview", "timeline", "blocks", "flame", "segments", "modules", "operators", "lines", "parameters"]) {
      await show(page, view);
      await page.waitForTimeout(50);
      const cut = await page.evaluate(() => {
        const hinted = (one) => getComputedStyle(one).textOverflow === "ellipsis" || one.closest(".cut-right, .cut-left") !== null;
        const clips = (one) => ["hidden", "auto", "scroll", "clip"].includes(getComputedStyle(one).overflowX);
        const cut = [...document.querySelectorAll("#views, main, main *")].filter((one) => clips(one) && one.scrollWidth > one.clientWidth + 1 && !hinted(one));
        const beyond = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
        return [...beyond, ...cut.map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`)];
      });
      if (cut.length > 0) found[`${view} ${width}`] = cut;
    }
  }
  return found;
})()"""


def test_nothing_is_cut_off_without_a_hint(layered):
    assert of_page(layered / "report.html", CUT) == {}


COLUMNS = """await (async () => {
  const columns = (selector, i) => page.$$eval(selector, (rows, i) => [...new Set(rows.filter(({cells}) => cells.length > 1).map(({cells}) => cells[i].hidden))], i);
  const heads = () => page.$$eval(".rows thead th", (all) => all.map((one) => one.textContent));
  await show(page, "modules");
  const names = await heads();
  const [hidden, sorted] = [names.indexOf("allocated"), names.indexOf("at the peak")];
  await page.click(".rows .columns summary");
  const boxes = await page.$$eval(".rows .columns label", (all) => all.map((one) => one.textContent));
  const seen = {names, boxes, before: await columns(".rows tr", hidden)};
  for (const name of ["allocated", "at the peak"]) await page.locator(".rows .columns label", {hasText: new RegExp(`^${name}$`)}).locator("input").uncheck();
  seen.hidden = await columns(".rows tr", hidden);
  seen.sorted = await columns(".rows tr", sorted);
  await show(page, "operators");
  seen.other = await columns(".rows tr", (await heads()).indexOf("allocated"));
  await show(page, "modules");
  seen.kept = await columns(".rows tr", hidden);
  return seen;
})()"""


def test_a_column_can_be_hidden(layered):
    seen = of_page(layered / "report.html", COLUMNS)
    assert seen["boxes"] == seen["names"][1:] and {"allocated", "at the peak"} < set(seen["names"])
    assert seen["before"] == seen["other"] == [False]
    assert seen["hidden"] == seen["kept"] == [True]
    assert seen["sorted"] == [False]  # the column that sorts the table stays
