"""memoir live that begins in the middle of a recording, after earlier parts were evicted, or while the newest one is half written: its figures equal memoir
show's."""

import json
import shutil
import subprocess

import pytest

from recording import show
from watched import TRAINS, Training, wait_until

# Much is recorded in each step, so that parts are evicted soon; what is kept grows until the end.
WRITES_MUCH = TRAINS.replace("    time.sleep(0.01)\n", "    for _ in range(300): torch.ones(16).mul(2)\n    if len(kept) < 40: kept.append(torch.zeros(1 << 12))\n")


def cpu(devices):
    (device,) = [device for device in devices if device["device"] == "cpu"]
    return device


def parts_of(capture):
    return sorted(capture.glob("*.memoir"))


def live_once(program, what):
    return json.loads(program.live("--once", "--json", what=what).stdout)["processes"][0]


def expect_same(seen, shown, steps):
    """`seen` of live, of `shown` of show: what was allocated last; and where its beginning was read, the peak and all steps."""
    device, whole = cpu(seen["devices"]), cpu(shown["devices"])
    assert device["allocated_bytes"] == whole["live_bytes_at_end"] > 0
    assert (seen["step_source"] or None) == shown["step_kind"] and seen["lost_events"] == shown["dropped_events"] == 0
    assert {finding["kind"] for finding in seen["findings"]} <= {"growth"}, seen["findings"]
    if steps:
        # If the part is cut within an optimizer's step, only show has the step's end.
        assert shown["step_count"] - seen["steps"] in (0, 1) and device["peak_allocated_bytes"] == whole["peak_allocated_bytes"]
    else:
        assert device["peak_allocated_bytes"] <= whole["peak_allocated_bytes"]


@pytest.mark.parametrize("options", [(), ("--max-size", "1MiB")], ids=["all parts", "the first parts are gone"])
def test_begun_in_the_middle(tree, tmp_path, options):
    with Training(tree, tmp_path, source=WRITES_MUCH, options=options) as program:
        wait_until(lambda: parts_of(program.capture) and not parts_of(program.capture)[0].name.endswith(".p0000.memoir") if options else live_once(program, program.capture)["step"] > 20)
        with program.watch() as live:
            first = json.loads(live.stdout.readline())["processes"][0]
            assert first["state"] == "running" and first["begun_late"] == bool(options)
            output, errors = program.finish()
            assert output == "trained to the end\n" and errors == ""
            last = json.loads(live.stdout.readlines()[-1])["processes"][0]
            assert live.wait(timeout=150) == 0
    assert last["state"] == "ended" and last["step"] > first["step"]
    expect_same(last, show(tree, program.capture), not options)


def test_the_newest_part_is_half_written(tree, tmp_path):
    """As a copy of the files at some instant has it, cut in its newest chunk once more."""
    with Training(tree, tmp_path, source=WRITES_MUCH) as program:
        wait_until(lambda: parts_of(program.capture) and parts_of(program.capture)[-1].stat().st_size > 1 << 18)
        copy = tmp_path / "copy"
        shutil.copytree(program.capture, copy)
        newest = parts_of(copy)[-1]
        for cut in (1, 40, 400, 4000, newest.stat().st_size // 3):
            with open(newest, "r+b") as file:
                file.truncate(newest.stat().st_size - cut)
            seen = live_once(program, copy)
            assert seen["state"] == "running" and not seen["begun_late"]
            expect_same(seen, show(tree, copy), True)
