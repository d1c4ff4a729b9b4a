"""The timeline: it begins with the step of the peak, snaps to the highest point near the pointer, has a strip of the whole recording, and an axis up to the size
of the device.
"""

import json
import subprocess
import sys

import pytest
from programs import TRAINING
from test_report_page import BROWSER, HERE, browser, memoir, shown

__all__ = ["browser"]  # a fixture


@pytest.fixture(scope="module")
def trained(tree, browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    (folder / "program.py").write_text(TRAINING)
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "--sim-memory", "1GiB", "-o", folder / "capture", "--", sys.executable, folder / "program.py"]
    assert subprocess.run(command, timeout=300).returncode == 0
    assert memoir(tree, "report", folder / "capture", "-o", folder / "report.html").returncode == 0
    done = subprocess.run(["node", HERE / "check_timeline.mjs", folder / "report.html"], capture_output=True, text=True, timeout=280, env=BROWSER)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["said"] == []
    seen["device"] = next(device for device in shown(tree, folder / "capture")["devices"] if device["device"] == "cuda:0")
    return seen


def test_it_begins_with_the_step_of_the_peak(trained):
    steps, peak, end = trained["steps_ns"], trained["peak_ns"], trained["end_ns"]
    step = max(i for i, begin in enumerate(steps) if begin <= peak)
    begin, finish = steps[step], [*steps, end][step + 1]
    (left, right), margin = trained["edges"], 0.04 * (finish - begin)
    pixel = (finish - begin) / trained["plot"]["width"]
    assert abs(left - (begin - margin)) <= 6 * pixel + 1e5, "the tip has tenths of milliseconds"
    assert abs(right - min(end, finish + margin)) <= 6 * pixel + 1e5


def test_it_snaps_to_the_highest_point(trained):
    peak = trained["device"]["peak_allocated_bytes"]
    at, near, far = trained["tips"]["at"], trained["tips"]["near"], trained["tips"]["far"]
    assert at["text"] == near["text"] and at["text"].startswith(f"{peak / 2**20:.1f} MiB allocated")
    assert abs(near["mark"][0] - at["x"]) <= 1.5, "the mark is at the peak, not at the pointer"
    assert far["text"] != at["text"] and abs(far["mark"][0] - at["x"]) > 1.5
    assert " live at peak" in trained["clicked"]


def test_the_axis_reaches_the_size_of_the_device(trained):
    device = trained["device"]
    share = trained["on_device_axis"]["mark"][1] / trained["plot"]["height"]
    assert device["total_bytes"] == 2**30
    assert abs((1 - share) - device["peak_allocated_bytes"] / (1.02 * device["total_bytes"])) < 0.02
    assert trained["tips"]["at"]["mark"][1] / trained["plot"]["height"] < share


def test_the_strip_selects_moves_and_resizes(trained):
    begin, end = trained["begin_ns"], trained["end_ns"]
    shares = {name: [(place - begin) / (end - begin) for place in window] for name, window in trained["strip"].items()}

    def near(name, window):
        assert shares[name] == pytest.approx(window, abs=0.01), (name, shares[name])

    near("selected", [0.2, 0.6])
    near("moved", [0.3, 0.7])
    near("resized", [0.3, 0.9])
    near("clicked", [0.0, 0.6])
    near("whole", [0.0, 1.0])
