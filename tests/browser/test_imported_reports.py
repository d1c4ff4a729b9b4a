"""Reports of memory snapshots that are written by hand, in a browser: what is rare in a recording, compared with --json."""

import pytest
import snapshots
from snapshots import MIB
from test_report_page import browser, memoir, of_page, shown  # noqa: F401  # a fixture is used by its name

pytestmark = pytest.mark.usefixtures("browser")


@pytest.fixture(scope="module")
def reported(tree, tmp_path_factory):
    """reported(make): the snapshot that `make` writes, and its report; made once."""
    made = {}

    def report(make):
        if make not in made:
            folder = tmp_path_factory.mktemp(make.__name__)
            snapshot = make(folder / "snapshot.pickle")
            done = memoir(tree, "report", snapshot, "-o", folder / "report.html")
            assert done.returncode == 0, done.stderr
            made[make] = snapshot, folder / "report.html"
        return made[make]

    return report


SEGMENTS = """{
  peak: Number((await page.getAttribute(".hero .peak", "title") ?? "").replace(/[^0-9]/g, "")),
  shown: (await show(page, "segments"), await page.click(".segments .chips button.end"), await settle(page)),
  headline: await page.textContent(".segments h2"),
  rows: await page.$$eval(".segments .table tbody tr", (all) => all.map((row) => [row.cells[0].title.replace("at ", ""), Number(row.cells[1].title.replace(/[^0-9]/g, "")), Number(row.cells[2].title.replace(/[^0-9]/g, ""))])),
}"""


@pytest.mark.in_turn(always=3)
@pytest.mark.parametrize("make", [snapshots.expandable, snapshots.reserved_early, snapshots.nothing_live, snapshots.waiting, snapshots.one_tick, snapshots.without_history])
def test_peak_and_segments_are_those_of_json(tree, reported, make):
    snapshot, report = reported(make)
    seen = of_page(report, SEGMENTS)
    assert seen["peak"] == shown(tree, snapshot)["devices"][0]["peak_allocated_bytes"]
    expected = [[one["address"], one["bytes"], one["bytes"] - one["used_bytes"]] for one in shown(tree, "--at", "end", "--by", "segment", snapshot)["devices"][0]["segments"]]
    assert sorted(seen["rows"]) == sorted(expected)
    assert f" in {len(expected)} segment" in seen["headline"]


CARD = "[await page.$$eval('.device-card tr', (all) => all.map((row) => [row.cells[0].textContent, row.cells[1].textContent])), await page.textContent('.device-card .note')]"


def test_what_was_reserved_at_another_time_says_when(reported):
    rows, note = of_page(reported(snapshots.reserved_early)[1], CARD)
    assert rows == [["allocated", "400.0 MiB"], ["in no block", "0 B"], ["reserved earlier", "600.0 MiB"]]
    assert note.startswith("reserved at most 1000.0 MiB · 400.0 MiB at the peak, 0 B (0.0%) of these in no block")
    rows, note = of_page(reported(snapshots.nothing_live)[1], CARD)
    assert rows == [["allocated", "0 B"], ["in no block", "300.0 MiB"]]
    assert "nothing was allocated" in note


def test_rounding_is_of_the_instant_of_the_peak(tree, reported):
    snapshot, report = reported(snapshots.waiting)
    device = shown(tree, snapshot)["devices"][0]
    assert device["peak_active_bytes"] == 200 * MIB and device["active_bytes_at_peak"] == device["requested_bytes_at_peak"] == 100 * MIB
    assert "rounding" not in of_page(report, CARD)[1]


FINDINGS = "await page.$$eval('.finding', (all) => all.map((one) => [one.className, one.querySelector('.sign').textContent, one.querySelector('h3').textContent]))"


def test_what_is_not_known_has_no_tick(tree, reported):
    snapshot, report = reported(snapshots.nothing_live)
    signs = {text[1:].partition(":")[0]: (name, sign, text) for name, sign, text in of_page(report, FINDINGS)}
    assert signs["leaks"][:2] == ("finding unknown", "?") and "not known" in signs["leaks"][2]
    assert signs["oom"] == ("finding unknown", "?", "?oom: no out-of-memory error is recorded, but the snapshot has no history")
    assert signs["balance"][:2] == ("finding unknown", "?")
    assert signs["frag"][:2] == ("finding fine", "✓")
    assert all(sign == "?" for _, sign, text in signs.values() if "not known" in text)
    said = memoir(tree, "check", snapshot).stdout
    assert signs["frag"][2].partition(": ")[2] in said, "as memoir check says it"


LINES = """{
  heading: await page.textContent('.overview .card.line h2'),
  rows: await page.$$eval('.overview .card.line tr', (all) => all.map((row) => [row.cells[0].textContent, row.querySelector('.swatch')?.style.background])),
  legend: (await show(page, 'timeline'), await page.$$eval('.timeline > .legend button', (all) => all.map((one) => [one.textContent, one.querySelector('.swatch').style.background]))),
}"""


def test_lines_without_history_are_known(reported):
    seen = of_page(reported(snapshots.without_history)[1], LINES)
    assert seen["heading"] == "The peak by line"
    assert [name for name, _ in seen["rows"]] == [f"train.py:{i + 1} line_{i} (before the window)" for i in range(5)]
    assert [colour for _, colour in seen["legend"]] == [colour for _, colour in seen["rows"]] and len({colour for _, colour in seen["rows"]}) == 5


def test_a_line_has_one_colour_in_every_view(reported):
    seen = of_page(reported(snapshots.three_lines)[1], LINES)
    assert [name for name, _ in seen["rows"]] == ["b.py:1 b", "c.py:1 c"]
    legend = dict(map(tuple, seen["legend"]))
    assert len(set(legend.values())) == 3
    assert all(legend[name] == colour for name, colour in seen["rows"])


def test_search_counts_what_is_too_narrow_to_draw(reported):
    note = of_page(reported(snapshots.many_lines)[1], "(await show(page, 'flame'), await page.click('.flame button[data-value=callers]'), await page.fill('.flame .find', 'train.py'), await settle(page), await page.textContent('.flame > .note'))")
    assert "matches 19.5 MiB, 100.0% of what is shown" in note


ONE_TICK = """(await show(page, "timeline"), await page.keyboard.press("0"), await settle(page), await (async () => {
  const most = [];
  for (let i = 0; i < 20; ++i) {
    const box = await page.locator(".chart .u-over").boundingBox();
    let here = 0;
    for (let x = 1; x < (i < 18 ? 12 : 400); x += 1) {
      await page.mouse.move(box.x + x, box.y + box.height / 2);
      const tip = await page.textContent("#tip");
      here = Math.max(here, Number(/^([0-9.]+) MiB allocated/.exec(tip)?.[1] ?? 0));
      if (here === 10) break;
    }
    most.push(here);
    await page.keyboard.press("+");
    await settle(page);
  }
  return {most, headline: await page.textContent(".headline")};
})())"""


def test_a_peak_of_one_tick_is_drawn_at_every_zoom(reported):
    seen = of_page(reported(snapshots.one_tick)[1], ONE_TICK)
    assert seen["most"] == [10] * 20
    assert "10.0 MiB live at peak" in seen["headline"] and "-" not in seen["headline"]


def test_as_many_segments_as_a_fragmented_program_has(tree, reported):
    _, report = reported(snapshots.many_segments)
    headline, note = of_page(report, "(await show(page, 'segments'), [await page.textContent('.segments h2'), await page.textContent('.pool .note')])")
    assert " in 130,000 segments at " in headline
    assert "The map shows the largest " in note and " of 130,000 segments; the table has all." in note


SLOW = """(await page.addInitScript(() => {
  const read = Response.prototype.arrayBuffer;
  Response.prototype.arrayBuffer = async function() {
    const slow = window.slow;
    const bytes = await read.call(this);
    if (slow) await new Promise((done) => setTimeout(done, 300));
    return bytes;
  };
}), await (async () => {
  const found = {};
  for (const [key, read] of [
      ["4", () => page.textContent(".flame > .note")], ["2", () => page.textContent(".timeline .headline")],
      ["3", async () => {
        const box = await page.locator(".canvas-box canvas").boundingBox();
        for (let y = box.height - 40; y > 0; y -= 8) {
          await page.mouse.move(box.x + box.width * 0.95, box.y + y);
          const tip = await page.isVisible("#tip") ? await page.textContent("#tip") : "";
          if (tip !== "") return tip;
        }
        return "";
      }]]) {
    await page.reload();
    await page.waitForSelector("html[data-ready=yes]");
    await page.keyboard.press("1");
    await settle(page);
    await page.evaluate(async (key) => {
      const press = (key) => dispatchEvent(new KeyboardEvent("keydown", {key}));
      window.slow = true;
      press(key);
      await new Promise((done) => setTimeout(done, 50));
      window.slow = false;
      press("]");
    }, key);
    await settle(page);
    found[key] = [await page.$eval("#device", (one) => one.selectedOptions[0].textContent), await read()];
  }
  return found;
})())"""


def test_what_was_asked_for_first_and_comes_last_is_not_shown(reported):
    seen = of_page(reported(snapshots.two_devices)[1], SLOW)
    assert [device for device, _ in seen.values()] == ["cuda:1"] * 3
    assert seen["4"][1].startswith("10.0 MiB in all") and seen["2"][1].startswith("10.0 MiB live at") and seen["3"][1].startswith("2.0 MiB ")


KEYBOARD = """{
  by: (await show(page, "timeline"), await page.focus(".controls [data-value=operator]"), await page.keyboard.press("Enter"), await settle(page), await page.evaluate(() => document.activeElement.dataset.value)),
  rows: (await page.focus(".instant .choice [data-value=pool]"), await page.keyboard.press("Enter"), await settle(page), await page.evaluate(() => document.activeElement.dataset.value)),
  chip: (await page.focus(".chips .end"), await page.keyboard.press("Enter"), await settle(page), await page.evaluate(() => document.activeElement.className)),
  behind: (await page.keyboard.press("?"), await page.keyboard.press("1"), await page.keyboard.press("t"), [await page.getAttribute("html", "data-view"), await page.getAttribute("html", "data-theme")]),
  closed: (await page.keyboard.press("Escape"), await page.isHidden("#keys")),
  row: (await page.focus(".split tbody tr"), await page.keyboard.press("Enter"), await settle(page), await page.textContent(".blocks-of h3")),
  flame: (await show(page, "operators"), await page.focus(".rows tbody tr"), await page.keyboard.press("Enter"), await settle(page), await page.getAttribute("html", "data-view")),
}"""


def test_the_keyboard_reaches_what_a_click_does(reported):
    seen = of_page(reported(snapshots.three_lines)[1], KEYBOARD)
    assert seen["by"] == "operator" and seen["rows"] == "pool" and "end" in seen["chip"]
    assert seen["behind"] == ["timeline", "light"] and seen["closed"]
    assert seen["row"].startswith("blocks of ") and seen["flame"] == "flame"


PRINTED = """(await page.keyboard.press("t"), await show(page, "timeline"), await page.evaluate(() => {
  const colours = (selector) => {
    const canvas = document.querySelector(selector);
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return found.size;
  };
  const theme = () => document.documentElement.dataset.theme;
  const was = theme();
  dispatchEvent(new Event("beforeprint"));
  const printed = {theme: theme(), map: colours(".split .map canvas")};
  dispatchEvent(new Event("afterprint"));
  return {was, printed, after: theme()};
}))"""
WIDTHS = """(await show(page, "timeline"), await page.setViewportSize({width: 720, height: 1000}), await settle(page), await page.setViewportSize({width: 1366, height: 768}), await settle(page), await page.emulateMedia({media: "print"}), await page.evaluate(() => {
  document.body.style.width = "720px";
  const chart = document.querySelector(".chart canvas").getBoundingClientRect();
  return {right: Math.max(...[...document.querySelectorAll("canvas")].map((one) => one.getBoundingClientRect().right)), chart: chart.height, first: getComputedStyle(document.querySelector("section.timeline")).breakInside};
}))"""


def test_paper_shows_what_the_screen_shows(reported):
    report = reported(snapshots.three_lines)[1]
    seen = of_page(report, PRINTED)
    assert seen["was"] == "dark" and seen["printed"]["theme"] == "light" and seen["after"] == "dark"
    assert seen["printed"]["map"] >= 2
    seen = of_page(report, WIDTHS)
    assert seen["right"] <= 720 and seen["chart"] > 50 and seen["first"] == "auto"
