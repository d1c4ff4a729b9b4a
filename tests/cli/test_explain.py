"""memoir explain, and the views by category and by parameter: their output, and their messages without a result."""

import json

import pytest


def test_a_call_of_an_operator(memoir, samples):
    done = memoir("explain", samples / "trained", "aten::linear#1")
    assert done.returncode == 0 and done.stderr == ""
    assert "by aten::linear (forward of fc)" in done.stdout and "kept by  autograd, for AddmmBackward0 of fc" in done.stdout
    block, = json.loads(memoir("explain", "--json", samples / "trained", "aten::linear#1").stdout)["blocks"]
    assert block["bytes"] == 2 << 20 and block["made_by"] == "aten::linear" and block["rule"] == "saved_for_backward"
    assert [reading["operator"] for reading in block["readings"]] == ["aten::mm"]


def test_a_parameter(memoir, samples):
    blocks = json.loads(memoir("explain", "--json", samples / "trained", "fc.weight").stdout)["blocks"]
    assert [block["category"] for block in blocks] == ["PARAMETER", "OPTIMIZER_STATE", "GRADIENT", "GRADIENT"]
    assert {block["parameter"] for block in blocks} == {"fc.weight"}


def test_an_address_inside_a_block(memoir, samples):
    done = memoir("explain", "--json", samples / "training", "0x10010")
    block, = json.loads(done.stdout)["blocks"]
    assert block["address"] == "0x10000" and block["freed_time_ns"] is None and block["reading_count"] == 3


@pytest.mark.parametrize("subject, message", [("fc.weight", "no parameter fc.weight"), ("aten::nothing", "no call 0 of an operator aten::nothing"),
                                              ("aten::linear#99", "no call 99"), ("0xdead00000000", "no block there"), ("\x1b[2J", "no parameter"), ("#", "no parameter")])
def test_subjects_that_are_not_there(memoir, samples, one_line, subject, message):
    done = memoir("explain", samples / "training", subject)
    assert done.returncode == 1 and done.stdout == "" and message in one_line(done) and "\x1b" not in done.stderr


def test_usage(memoir, samples, one_line):
    assert "nothing to explain" in one_line(memoir("explain", samples / "training"))
    assert "no capture given" in one_line(memoir("explain"))
    assert "--by has no meaning" in one_line(memoir("show", samples / "training", "--over", "time", "--by", "parameter"))


@pytest.mark.parametrize("by, rows", [("category", "categories"), ("category,module", "module_categories"), ("parameter", "parameters")])
def test_sums_close(memoir, samples, by, rows):
    for sample in ("training", "ranks", "losses", "folded", "odd_names", "modules", "cuda", "held", "trained", "empty"):
        done = memoir("show", "--json", "--by", by, samples / sample)
        assert done.returncode == 0, (sample, done.stderr)
        shown = json.loads(done.stdout)
        for key, total in (("allocated_bytes", "allocated_bytes"), ("net_bytes", "live_bytes_at_end"), ("bytes_at_peak", "peak_allocated_bytes")):
            assert sum(row[key] for row in shown[rows]) == sum(device[total] for device in shown["devices"]), (sample, key)
        if by == "parameter":
            for row in shown[rows]:
                if row["kind"] == "named":
                    assert sum(row[part]["allocated_bytes"] for part in ("parameter", "gradient", "optimizer_state")) == row["allocated_bytes"]


def test_blocks_of_a_window(memoir, samples):
    """Those that were live in it at some time, whenever they were allocated."""
    exported = lambda *options: json.loads(memoir("export", "categories", *options, samples / "trained").stdout)["blocks"]
    everything, window = exported(), exported("--steps", "1:2")
    events = map(json.loads, memoir("export", "events", samples / "trained").stdout.splitlines())
    steps = {event["step"]: event["time_ns"] for event in events if event["event"] == "step"}
    begin, end = steps[1], steps.get(2, float("inf"))
    inside = [block for block in everything if block["allocated_time_ns"] < end and (block["freed_time_ns"] is None or block["freed_time_ns"] >= begin)]
    serial = lambda block: block["serial"]
    assert sorted(window, key=serial) == sorted(inside, key=serial) and 0 < len(inside) < len(everything)
    assert any(block["allocated_time_ns"] < begin for block in inside)
    # So do the lives that `explain` tells.
    explained = json.loads(memoir("explain", "--json", "--steps", "1:2", samples / "trained", "fc.weight").stdout)["blocks"]
    assert {(block["address"], block["made_time_ns"]) for block in explained} == \
        {(block["address"], block["allocated_time_ns"]) for block in inside if block["parameter"] == "fc.weight"}


def test_forget_before_is_of_torchs_rules(memoir, samples, one_line):
    assert "--rules torch" in one_line(memoir("export", "categories", "--forget-before", "--range", "step", samples / "trained"))


def test_a_parameter_that_is_nearly_there(memoir, samples, one_line):
    assert "did you mean fc.weight?" in one_line(memoir("explain", samples / "trained", "fc.weigth"))


@pytest.mark.parametrize("subject", ["0x", "0xzz", "0xffffffffffffffffffff", "aten::mm#", "aten::mm#-1", "aten::mm#99999999999999999999"])
def test_subjects_that_are_none(memoir, samples, one_line, subject):
    assert f"'{subject}'" in one_line(memoir("explain", samples / "trained", subject))


def test_categories_over_time_add_up(memoir, samples):
    for sample in ("trained", "cuda"):
        shown = json.loads(memoir("show", "--json", "--over", "time", "--by", "category", samples / sample).stdout)
        device = shown["devices"][0]
        assert device["max_bytes"] == [sum(column) for column in zip(*(category["bytes"] for category in device["categories"]))]


def test_what_is_missing_is_said_once(memoir, samples):
    done = memoir("show", "--by", "category", samples / "training")
    assert done.returncode == 0 and done.stdout.count("No modules were recorded") == 1
