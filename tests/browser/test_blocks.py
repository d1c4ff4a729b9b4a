"""The picture of blocks: compacted it is as high as the allocated bytes, and in the layout by addresses a band keeps its place."""

import json
import subprocess
import sys

import pytest
from test_report_page import BROWSER, HERE, browser, memoir, shown

__all__ = ["browser"]  # a fixture

MIB = 1 << 20

# Three blocks; the first is freed, and a fourth follows.
PROGRAM = """
import time, torch, memoir

def allocate(mib):
    made = torch.empty(mib << 20, dtype=torch.uint8)
    time.sleep(0.05)
    return made

def at(name):
    time.sleep(0.1)
    memoir.mark(name)
    time.sleep(0.1)

first, second, third = allocate(64), allocate(32), allocate(16)
at("three")
del first
at("two")
fourth = allocate(8)
at("again three")
"""


@pytest.fixture(scope="module")
def seen(tree, browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    (folder / "program.py").write_text(PROGRAM)
    assert subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", folder / "capture", "--", sys.executable, folder / "program.py"], timeout=300).returncode == 0
    assert memoir(tree, "report", folder / "capture", "-o", folder / "report.html").returncode == 0
    marks = {mark["name"]: mark["time_ns"] for mark in shown(tree, folder / "capture")["marks"]}
    done = subprocess.run(["node", HERE / "check_blocks.mjs", folder / "report.html", json.dumps(marks)], capture_output=True, text=True, timeout=280, env=BROWSER)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["said"] == []
    return seen


def test_compacted_bands_lie_on_each_other(seen):
    compacted = seen["compacted"]
    assert compacted["axis"] == "y axis: allocated bytes"
    # By mark: the block at each MiB above the bottom.
    expected = {
        "three": {32: 64, 80: 32, 104: 16, 113: None},
        "two": {16: 32, 40: 16, 49: None},
        "again three": {16: 32, 40: 16, 52: 8, 57: None},
    }
    for mark, places in expected.items():
        for place, mib in places.items():
            tip = compacted["tips"][mark][str(place)]
            assert (tip is None) if mib is None else (tip or "").startswith(f"{mib}.0 MiB "), (mark, place, tip)
    tops = {mark: round(top / MIB) for mark, top in compacted["tops"].items()}
    assert tops == {"three": 112, "two": 48, "again three": 56}, "the highest colour of the pixel column"


def test_a_band_keeps_its_address(seen):
    addresses = seen["addresses"]
    assert "addresses" in addresses["axis"]
    found = addresses["found"]
    for mib in (32, 16):
        places = [found[mark][str(mib)] for mark in ("three", "two", "again three")]
        assert None not in places and max(places) - min(places) <= 1, (mib, places)
    assert found["three"]["64"] is not None and found["two"]["64"] is None


def test_a_click_on_a_band_shows_the_same_block_in_both_layouts(seen):
    assert seen["compacted"]["details"] == seen["addresses"]["details"]
    assert "33,554,432" in seen["compacted"]["details"]
