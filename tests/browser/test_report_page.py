"""The report in a browser: every view opened, its numbers compared with --json, no message on the console, no request to the network. Skipped if Node.js, its
packages (tools/web, npm ci) or Chromium are missing; then `memoir report` must report it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from programs import EVIL, PLAIN, RANKS, TRAINING, TWO_GPUS

HERE = pathlib.Path(__file__).resolve().parent
SIZES = ((1366, 768), (2560, 1440))
CHROMIUM = next((path for path in (os.environ.get("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome") if path and os.path.exists(path)), None)

FIREFOX = os.environ.get("FIREFOX") or shutil.which("firefox-esr")
BROWSER = {**os.environ, "CHROMIUM": CHROMIUM or "", "FIREFOX": ""}  # the scripts' environment: Chromium, unless Firefox is named


def missing(tree):
    if not (tree / "lib" / "memoir" / "report.html").exists():
        return "this tree was built without Node.js: it has no page of the report"
    if shutil.which("node") is None:
        return "no node here"
    if not (HERE.parents[1] / "tools" / "web" / "node_modules" / "playwright-core").exists():
        return "tools/web has no node_modules: npm ci"
    return None if CHROMIUM else "no Chromium here"


@pytest.fixture(scope="module")
def browser(tree):
    reason = missing(tree)
    if reason:
        pytest.skip(reason)


def memoir(tree, *arguments, **options):
    return subprocess.run([tree / "bin" / "memoir", *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, **options)


def shown(tree, *arguments):
    done = memoir(tree, "show", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Reported:
    """A recorded program, its report, and what the browser saw of it at each size."""

    part = ()  # the options of a report of a part

    def __init__(self, tree, folder, program, *options, sizes=SIZES):
        script = folder / "program.py"
        script.write_text(program)
        self.tree, self.capture, self.file = tree, folder / "capture", folder / "report.html"
        done = subprocess.run([tree / "bin" / "memoir", "run", "-q", *options, "-o", self.capture, "--", os.sys.executable, script], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        made = memoir(tree, "report", self.capture, "-o", self.file)
        assert made.returncode == 0, made.stderr
        self.seen = [self.look(width, height) for width, height in sizes]

    def of_part(self, folder, *options):
        """A report of a part of the same recording."""
        made = Reported.__new__(Reported)
        made.tree, made.capture, made.file, made.part = self.tree, self.capture, folder / "part.html", options
        done = memoir(self.tree, "report", *options, self.capture, "-o", made.file)
        assert done.returncode == 0, done.stderr
        assert ", of " in done.stderr
        made.seen = [made.look(*SIZES[0])]
        return made

    def shown(self, *arguments):
        return shown(self.tree, *self.part, *arguments, self.capture)

    def look(self, width, height, **variables):
        done = subprocess.run(["node", HERE / "check_page.mjs", self.file, str(width), str(height)], capture_output=True, text=True, timeout=280, env={**BROWSER, **variables})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def training(tree, tmp_path_factory, browser):
    return Reported(tree, tmp_path_factory.mktemp("training"), TRAINING, "--simulate", "h100")


@pytest.fixture(scope="module")
def evil(tree, tmp_path_factory, browser):
    return Reported(tree, tmp_path_factory.mktemp("evil"), EVIL)


@pytest.fixture(scope="module")
def plain(tree, tmp_path_factory, browser):
    return Reported(tree, tmp_path_factory.mktemp("plain"), PLAIN)


@pytest.fixture(scope="module")
def ranks(tree, tmp_path_factory, browser):
    return Reported(tree, tmp_path_factory.mktemp("ranks"), RANKS, "--simulate", "h100", sizes=SIZES[:1])


@pytest.fixture(scope="module")
def window(training, tmp_path_factory):
    return training.of_part(tmp_path_factory.mktemp("window"), "--steps", "1:3")


@pytest.fixture(scope="module")
def chosen(training, tmp_path_factory):
    return training.of_part(tmp_path_factory.mktemp("chosen"), "--module", "2", "--min-size", "1KiB")


@pytest.fixture(params=["training", "evil", "plain", "window", "chosen"])
def reported(request):
    return request.getfixturevalue(request.param)


@pytest.mark.in_turn(always=2)
def test_says_nothing_and_asks_for_nothing(reported):
    for seen in reported.seen:
        assert seen["failed"] is None
        assert seen["said"] == []
        assert seen["requests"] == []
        assert seen["scripts"] == 1, "a name became a script"
        assert "IMG" not in seen["body"]


@pytest.mark.in_turn(always=2)
def test_every_view_shows_something(reported):
    for seen in reported.seen:
        assert seen["overview"]["spark"] >= 1
        assert seen["timeline"]["map"] >= 1 or seen["timeline"]["stepped"].startswith("0 B live at "), "of few blocks none may be live"
        assert seen["blocks"]["colours"] >= 1, "of those of its legend"
        assert seen["flame"]["colours"] >= 2
        assert seen["blocks"]["details"] != "", "no band could be clicked"
        assert "bytes" in seen["blocks"]["details"]
        assert seen["keyboard"] == {"views": ["overview", "timeline", "blocks", "flame", "segments", "modules", "operators", "lines", "parameters"], "theme_changed": True, "keys": True, "focused": "search"}


@pytest.mark.in_turn(always=2)
def test_zooms_and_steps(reported):
    for seen in reported.seen:
        timeline = seen["timeline"]
        assert timeline["zoom_changed"] and timeline["whole_changed"]
        assert " live at " in timeline["clicked"] and " live at " in timeline["stepped"]
        assert "allocated at" in timeline["tip"]


def first_device(document):
    """The page shows GPUs first."""
    return next((device for device in document["devices"] if device["device"].startswith("cuda")), document["devices"][0])


def of_device(row, document, device):
    if len(document["devices"]) == 1:
        return row
    return next((part for part in row.get("devices", ()) if part["device"] == device), None)


@pytest.mark.in_turn(always=2)
def test_overview_is_that_of_json(reported):
    document = reported.shown("--by", "category")
    device = first_device(document)
    expected = {}
    for row in document["categories"]:
        part = of_device(row, document, device["device"])
        if part and part["bytes_at_peak"]:
            expected[row["name"]] = part["bytes_at_peak"]
    for seen in reported.seen:
        assert seen["overview"]["peak"] == device["peak_allocated_bytes"]
        assert {row["name"]: row["bytes"] for row in seen["overview"]["categories"]} == expected
        assert sum(expected.values()) == seen["overview"]["peak"]


def test_the_chooser_shows_the_other_device(training, plain):
    document = shown(training.tree, training.capture)
    cpu = next(device for device in document["devices"] if device["device"] == "cpu")
    for seen in training.seen:
        assert seen["other_device"] == {"device": "cpu", "peak": cpu["peak_allocated_bytes"]}
    assert all(seen["other_device"]["device"] is None for seen in plain.seen)


def short(row):
    """As the page calls a row: a line's file without its folder."""
    return row["name"].replace(row["file"], pathlib.Path(row["file"]).name) if row.get("file") else row["name"]


@pytest.mark.in_turn(always=2)
def test_rows_at_the_peak_are_those_of_json(reported):
    for word, key in (("category", "categories"), ("module", "modules"), ("operator", "operators"), ("line", "lines"), ("pool", "pools"), ("shape", "shapes"), ("parameter", "parameters")):
        document = reported.shown("--at", "peak", "--by", word)
        device = first_device(document)
        expected = {}
        for row in device[key]:
            expected.setdefault(short(row), []).append(row["bytes"])
        for seen in reported.seen:
            if word == "pool" and not device["device"].startswith("cuda"):
                assert "pool" not in seen["timeline"]["rows"], "a device without a caching allocator has no pools"
                continue
            rows = {}
            for row in seen["timeline"]["rows"][word]:
                rows.setdefault(row["name"], []).append(row["bytes"])
            assert {name: sorted(values) for name, values in rows.items()} == {name: sorted(values) for name, values in expected.items()}, word


@pytest.mark.in_turn(always=2)
def test_tables_are_those_of_json(reported):
    for view, word, key in (("modules", "module", "modules"), ("operators", "operator", "operators"), ("lines", "line", "lines"), ("parameters", "parameter", "parameters")):
        document = reported.shown("--by", word)
        device = first_device(document)["device"]
        expected = {}
        for row in document[key]:
            part = of_device(row, document, device)
            if part and (part["allocations"] or part["bytes_at_peak"] or row.get("count")) or row["kind"] == "container":
                expected.setdefault(short(row), []).append((part or row)["bytes_at_peak"])
        for seen in reported.seen:
            if seen[view] is None:
                assert not any(any(values) for values in expected.values())
                continue
            rows = {}
            for row in seen[view]["rows"]:
                rows.setdefault(row["name"], []).append(row["bytes"])
            assert {name: sorted(values) for name, values in rows.items()} == {name: sorted(values) for name, values in expected.items()}, view
            assert seen[view]["sorted"] == sorted(seen[view]["sorted"], key=lambda name: name.encode("utf-16-be"))
            assert seen[view]["filtered"] and all(seen[view]["word"].lower() in name.lower() for name in seen[view]["filtered"])


def test_segments_are_those_of_json(training):
    document = shown(training.tree, "--at", "peak", "--by", "segment", training.capture)
    expected = [(segment["address"], segment["bytes"]) for segment in document["devices"][0]["segments"]]
    for seen in training.seen:
        assert sorted((row["address"], row["bytes"]) for row in seen["segments"]["rows"]) == sorted(expected)
        assert sum(row["bytes"] - row["free"] for row in seen["segments"]["rows"]) == seen["overview"]["peak"]


HEAD = "[await page.title(), await page.textContent('#what .part-text'), await page.$$eval('.part-of > *', (all) => all.map((one) => one.textContent)), await page.textContent('.hero .label')]"


def test_a_part_says_what_it_is_of(training, window, chosen):
    assert of_page(training.file, "await page.$$eval('.part, .part-of', (all) => all.length)") == 0
    title, head, (heading, *notes), label = of_page(window.file, HEAD)
    assert head == "steps 1:3 of 4" and title.endswith("capture (part: steps 1:3 of 4)") and heading == "A part: steps 1:3 of 4"
    assert len(notes) == 1 and "covers this window" in notes[0] and label == "peak allocated"
    title, head, (heading, share, note), label = of_page(chosen.file, HEAD)
    assert head == "blocks of modules 2, of 1.0 KiB or more" and head in title and head in heading
    device = first_device(chosen.shown())
    part, whole = device["peak_allocated_bytes"], device["peak_of_all_bytes"]
    assert f"{100 * part / whole:.1f}% of the {in_units(whole)}" in share and 0 < part < whole
    assert "cover all blocks" in note and label == "peak allocated of these blocks"


def test_other_blocks_are_no_holes(training, chosen):
    at = next(device["time_ns"] for device in chosen.shown("--at", "peak")["devices"] if device["device"] == "cuda:0")
    document = shown(training.tree, "--at", f"{at}ns", "--by", "segment", training.capture)
    expected = {segment["address"]: (segment["bytes"], segment["bytes"] - segment["used_bytes"]) for segment in document["devices"][0]["segments"]}
    for seen in chosen.seen:
        assert {row["address"]: (row["bytes"], row["free"]) for row in seen["segments"]["rows"]} == expected
        taken = sum(row["bytes"] - row["free"] for row in seen["segments"]["rows"])
        assert taken == first_device(chosen.shown())["peak_of_all_bytes"] > seen["overview"]["peak"]
    legend = of_page(chosen.file, "(await show(page, 'segments'), await settle(page), await page.textContent('.other-blocks'))")
    assert "other blocks" in legend


def test_segments_of_a_window_are_those_of_json(window):
    document = window.shown("--at", "peak", "--by", "segment")
    expected = [(segment["address"], segment["bytes"]) for segment in document["devices"][0]["segments"]]
    for seen in window.seen:
        assert sorted((row["address"], row["bytes"]) for row in seen["segments"]["rows"]) == sorted(expected)
        assert sum(row["bytes"] - row["free"] for row in seen["segments"]["rows"]) == seen["overview"]["peak"]


def test_ranks_stand_side_by_side(ranks, training):
    document = shown(ranks.tree, ranks.capture)
    peaks = {f"rank {device['rank']} cuda:0": device["peak_allocated_bytes"] for device in document["devices"] if device["device"] == "cuda:0"}
    assert len(peaks) == 3
    (seen,) = ranks.seen
    assert seen["failed"] is None and seen["said"] == [] and seen["requests"] == []
    of = seen["ranks"]
    for rows in (of["by_step"], of["by_time"]):
        assert {row["name"]: row["peak"] for row in rows} == peaks
    assert [row["name"] for row in of["by_step"] if row["odd"]] == ["rank 2 cuda:0"], "the rank that leaks"
    assert of["colours"] == 3, "each rank's"
    assert of["view"] == "timeline" and of["clicked"] == "rank 2 cuda:0" and " live at " in of["headline"]
    assert all(seen["ranks"] is None for seen in training.seen), "one rank has nothing beside it"


def of_page(report, expression):
    """Returns the value of an expression of the page's `page`, and the page's own messages."""
    script = f"""
import {{ openReport, show, settle }} from "{(HERE / "report_page.mjs").as_uri()}";
const {{ browser, page, said }} = await openReport({json.dumps(str(report))}, {{ width: 1366, height: 768 }});
const answer = {expression};
console.log(JSON.stringify({{ answer, said }}));
await browser.close();
"""
    done = subprocess.run(["node", "--input-type=module"], input=script, capture_output=True, text=True, timeout=120, env=BROWSER)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["said"] == []
    return answer["answer"]


SIDE_BY_SIDE = """{
  tab: await page.textContent("#views a[data-view=ranks]"),
  link: await page.locator(".overview button", {hasText: "side by side"}).textContent(),
  note: (await show(page, "ranks"), await page.waitForSelector(".ranks-rows .rank-row"), await settle(page), await page.textContent(".ranks > .note")),
  rows: await page.$$eval(".ranks-rows .rank-row .link", (all) => all.map((one) => one.textContent)),
  odd: await page.$$eval(".ranks-rows .rank-row.odd .link", (all) => all.map((one) => one.textContent)),
}"""


def test_two_gpus_of_a_process_are_devices_and_no_ranks(tree, browser, ranks, tmp_path):
    seen = of_page(Reported(tree, tmp_path, TWO_GPUS, "--simulate", "h100", "--sim-devices", "2", sizes=()).file, SIDE_BY_SIDE)
    assert seen["tab"] == "Devices" and seen["link"].startswith("Devices side by side")
    assert seen["rows"] == ["cuda:0", "cuda:1"]
    assert "rank" not in seen["note"] and "a device at that instant" in seen["note"]
    seen = of_page(ranks.file, SIDE_BY_SIDE)
    assert seen["tab"] == "Ranks" and seen["link"].startswith("Ranks side by side")
    assert "1 rank of 3 stands out" in seen["note"]


def test_firefox_shows_the_same(training):
    if FIREFOX is None:
        pytest.skip("no Firefox here")
    seen, expected = training.look(*SIZES[0], FIREFOX=FIREFOX), training.seen[0]
    assert seen["failed"] is None and seen["said"] == [] and seen["requests"] == []
    for key in ("peak", "kind", "categories", "findings"):
        assert seen["overview"][key] == expected["overview"][key]
    for key in ("other_device", "segments", "modules", "operators", "lines", "parameters", "keyboard"):
        assert seen[key] == expected[key], key
    assert seen["timeline"]["rows"] == expected["timeline"]["rows"]
    assert seen["timeline"]["zoom_changed"] and seen["timeline"]["whole_changed"]
    assert seen["flame"]["notes"] == expected["flame"]["notes"]
    for canvas in (seen["overview"]["spark"], seen["timeline"]["map"], seen["blocks"]["colours"], seen["flame"]["colours"]):
        assert canvas >= 2
    assert seen["blocks"]["details"] != "", "no band could be clicked"


def test_a_simulated_figure_says_so(training, plain):
    assert all(seen["overview"]["kind"] == "SIMULATED" for seen in training.seen)
    assert all(seen["overview"]["kind"] == "MEASURED" for seen in plain.seen)


@pytest.mark.in_turn(always=2)
def test_flame_graph_adds_up(reported):
    document = reported.shown("--by", "operator")
    device = first_device(document)
    for seen in reported.seen:
        of = {measure: text.partition(" in all")[0] for measure, text in seen["flame"]["notes"].items()}
        assert of["atPeak"] == seen["flame"]["ranges"].partition(" in all")[0] == in_units(device["peak_allocated_bytes"])
        assert of["atPeak"] == seen["flame"]["callers"].partition(" in all")[0]
        if "--steps" not in reported.part:  # what was live before a window is not new in it
            assert of["atPeak"] == seen["flame"]["grown"].partition(" in all")[0]
        assert of["allocated"] == in_units(device["allocated_bytes"])
        assert re.search(r"matches .*%", seen["flame"]["found"])
        assert len(seen["flame"]["crumbs"]) >= 2 and seen["flame"]["back"]


def in_units(count):
    if count < 1024:
        return f"{count} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1023.95:
            break
    return f"{count:.{2 if unit == 'GiB' and count < 9.995 else 1}f} {unit}"


def test_a_browser_without_what_it_needs_says_so(training, tmp_path):
    script = f"""
import {{ openReport }} from "{(HERE / "report_page.mjs").as_uri()}";
const {{ browser, page, said }} = await openReport({json.dumps(str(training.file))}, {{ width: 800, height: 600, script: "delete window.DecompressionStream" }});
console.log(JSON.stringify({{ text: await page.textContent(".failed"), said }}));
await browser.close();
"""
    done = subprocess.run(["node", "--input-type=module"], input=script, capture_output=True, text=True, timeout=120, env=BROWSER)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "DecompressionStream" in answer["text"] and "newer browser" in answer["text"]
    assert answer["said"] == []
