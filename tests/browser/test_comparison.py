"""The flame graph of `memoir report --baseline`: its differences equal `memoir diff --json`."""

import json
import subprocess
import sys

import pytest
from test_report_page import BROWSER, HERE, browser, in_units, memoir, of_page, shown

__all__ = ["browser"]  # a fixture

# `wide` is larger in the second, `gone` is in the first alone, `fresh` in the second alone, and `same` is in both. Lines have moved.
PROGRAM = """
import torch
{blank}
{blank}
model = torch.nn.Module()
model.same = torch.nn.Linear(1024, 256, bias=False, device="cuda")
model.wide = torch.nn.Linear(1024, {wide}, bias=False, device="cuda")
model.{other} = torch.nn.Linear(1024, 512, bias=False, device="cuda")
x = torch.ones(8192, 1024, device="cuda")
kept = [module(x) for module in model.children()]
"""
VERSIONS = {
    "before": {"blank": "", "wide": 256, "other": "gone"},
    "after": {"blank": "# moved", "wide": 1024, "other": "fresh"},
}


@pytest.fixture(scope="module")
def captures(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    for name, version in VERSIONS.items():
        script = folder / "program.py"
        script.write_text(PROGRAM.format(**version))
        done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "-o", folder / name, "--", sys.executable, script],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def seen(tree, captures, browser):
    done = memoir(tree, "report", captures / "after", "--baseline", captures / "before", "-o", captures / "report.html")
    assert done.returncode == 0, done.stderr
    looked = subprocess.run(["node", HERE / "check_comparison.mjs", captures / "report.html"], capture_output=True, text=True, timeout=200, env=BROWSER)
    assert looked.returncode == 0, looked.stderr
    return json.loads(looked.stdout)


def peak_of(tree, capture):
    return next(device["peak_allocated_bytes"] for device in shown(tree, capture)["devices"] if device["device"] == "cuda:0")


def change_text(now, before):
    if now == before:
        return f"the same: {in_units(now)}, {in_units(before)} before"
    return f"{'+' if now > before else '−'}{in_units(abs(now - before))}: {in_units(now)}, {in_units(before)} before"


def tip_of(tips, name):
    found = [tip["lines"] for tip in tips if tip["lines"][0] == name]
    assert found, (name, tips)
    return found[0]


def test_it_says_nothing_on_the_console(seen):
    assert seen["said"] == []


@pytest.mark.parametrize("by", ["modules", "callers"])
def test_all_of_it_is_the_difference_of_the_peaks(tree, captures, seen, by):
    now, before = peak_of(tree, captures / "after"), peak_of(tree, captures / "before")
    assert tip_of(seen[by]["tips"], "all")[1] == change_text(now, before)
    assert f"Red has more than {captures / 'before'}, blue less" in seen[by]["note"]


def test_modules_are_those_of_diff(tree, captures, seen):
    """Each module of the first row, with its children, equals a row of `memoir diff --by module`."""
    done = memoir(tree, "diff", "--json", "--by", "module", "--device", "cuda:0", captures / "before", captures / "after")
    device, = json.loads(done.stdout)["devices"]
    rows = {row["name"]: row for row in device["rows"]}
    checked = [tip["lines"] for tip in seen["modules"]["tips"] if tip["row"] == 1 and tip["lines"][0] in rows]
    assert {name for name, *_ in checked} >= {"wide"}
    for name, text, *_ in checked:
        assert text == change_text(rows[name]["bytes_b"], rows[name]["bytes_a"]), name


def test_what_is_new_is_red_and_what_is_gone_is_blue(seen):
    for by in ("modules", "callers"):
        assert seen[by]["colours"]["red"] > 1000, by
    assert seen["modules"]["colours"]["blue"] > 1000


def test_ranges_are_not_compared(seen):
    assert seen["ranges"]["compared"] == 0 and "at the peak" not in seen["ranges"]["note"]


def test_without_a_common_device_there_is_nothing_to_compare(tree, captures, tmp_path):
    (tmp_path / "cpu.py").write_text("import torch\nx = torch.ones(1000)\n")
    assert memoir(tree, "run", "-q", "-o", tmp_path / "cpu", "--", sys.executable, tmp_path / "cpu.py").returncode == 0
    done = memoir(tree, "report", captures / "after", "--device", "cuda:0", "--baseline", tmp_path / "cpu", "-o", tmp_path / "x.html")
    assert done.returncode == 1 and "cpu" in done.stderr and not (tmp_path / "x.html").exists(), done.stderr
    done = memoir(tree, "report", captures / "after", "--baseline", tmp_path / "nowhere", "-o", tmp_path / "x.html")
    assert done.returncode == 1 and "nowhere" in done.stderr and not (tmp_path / "x.html").exists()


def test_a_baseline_that_was_cut_says_so(tree, captures, browser, tmp_path):
    cut = tmp_path / "cut"
    subprocess.run(["cp", "-r", captures / "before", cut], check=True)
    part, = cut.glob("*.memoir")
    part.write_bytes(part.read_bytes()[:-1])
    done = memoir(tree, "report", captures / "after", "--baseline", cut, "-o", tmp_path / "x.html")
    assert done.returncode == 0 and f"memoir: {cut}: " in done.stderr, done.stderr
    looked = subprocess.run(["node", HERE / "check_comparison.mjs", tmp_path / "x.html"], capture_output=True, text=True, timeout=200, env=BROWSER)
    assert f" {cut}: " in json.loads(looked.stdout)["modules"]["note"], looked.stdout


def test_a_report_without_one_compares_nothing(tree, captures, browser):
    assert memoir(tree, "report", captures / "after", "-o", captures / "alone.html").returncode == 0
    script = f"""
import {{openReport, show}} from "{(HERE / "report_page.mjs").as_uri()}";
const {{browser, page, said}} = await openReport({json.dumps(str(captures / "alone.html"))}, {{width: 1366, height: 768}});
await show(page, 'flame');
console.log(JSON.stringify({{compared: await page.locator('.flame button[data-value=either]').count(), note: await page.textContent('.flame > .note'), said}}));
await browser.close();
"""
    done = subprocess.run(["node", "--input-type=module"], input=script, capture_output=True, text=True, timeout=120, env=BROWSER)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["compared"] == 0 and "in all" in answer["note"] and answer["said"] == []


TABLES = """await (async () => {
  const seen = {sentence: await page.textContent(".sentence"), categories: await page.$$eval(".card.category tr", (rows) => rows.map((row) => [
    row.cells[0].querySelector("bdi").textContent, row.cells[1].title, row.cells[2].textContent]))};
  for (const view of ["modules", "operators", "parameters"]) {
    await show(page, view);
    await settle(page);
    seen[view] = await page.evaluate(() => {
      const heads = [...document.querySelectorAll(".rows th")].map((head) => head.textContent);
      const at = (name) => heads.indexOf(name);
      return [...document.querySelectorAll(".rows tbody tr")].map((row) => [
        row.cells[0].querySelector("bdi").textContent, ...["at the peak", "before", "change"].map((head) => row.cells[at(head)].title)]);
    });
  }
  return seen;
})()"""


def rows_at_peak(tree, capture, word, key):
    rows = {}
    for row in shown(tree, "--by", word, "--device", "cuda:0", capture)[key]:
        if row["bytes_at_peak"]:
            rows[row["name"]] = rows.get(row["name"], 0) + row["bytes_at_peak"]
    return rows


def test_tables_have_both_numbers_and_rows_that_are_gone(tree, captures, seen):
    page = of_page(captures / "report.html", TABLES)
    now, before = peak_of(tree, captures / "after"), peak_of(tree, captures / "before")
    assert page["sentence"].endswith(f" {in_units(now - before)} more than the {in_units(before)} of {captures / 'before'}.")
    for view, word in (("modules", "module"), ("operators", "operator"), ("parameters", "parameter")):
        both = [rows_at_peak(tree, captures / name, word, view) for name in ("after", "before")]
        expected = {name: [f"{count:,} bytes" for count in (both[0].get(name, 0), both[1].get(name, 0), both[0].get(name, 0) - both[1].get(name, 0))]
                    for name in both[0].keys() | both[1].keys()}  # fmt: skip
        rows = {name: figures for name, *figures in page[view] if figures[0] != "0 bytes" or figures[1] != "0 bytes"}
        assert rows == expected
        changes = [int(row[3].split()[0].replace(",", "")) for row in page[view]]
        assert changes == sorted(changes, reverse=True)
    assert any(row[0] == "gone" for row in page["modules"]) and any(row[0] == "fresh" for row in page["modules"])
    categories = [rows_at_peak(tree, captures / name, "category", "categories") for name in ("after", "before")]
    assert {name: change for name, _, change in page["categories"] if change} == {
        name: ("+" if change > 0 else "−") + in_units(abs(change))
        for name in categories[0].keys() | categories[1].keys()
        if (change := categories[0].get(name, 0) - categories[1].get(name, 0))
    }
