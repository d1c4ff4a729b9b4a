"""memoir show, export, doctor and help: their output, its destination, and their messages for invalid captures."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

import pytest


def test_unknown_verb(memoir, one_line):
    done = memoir("shwo", "x")
    assert done.returncode == 2 and "did you mean show?" in one_line(done)
    done = memoir("python", "train.py")
    assert done.returncode == 2 and "to record a program: memoir run -- python train.py" in one_line(done)


def test_not_a_capture(memoir, tmp_path, one_line):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.memoir").write_text("this is no capture\n")
    for path in ("empty", "text.memoir", "./missing"):
        done = memoir("show", path)
        assert done.returncode == 1 and done.stdout == "", path
        assert path.lstrip("./") in one_line(done)


def test_path_that_cannot_be_followed(memoir, tmp_path, one_line):
    (tmp_path / "loop").symlink_to("loop")
    done = memoir("show", "loop")
    assert done.returncode == 1 and "Too many levels of symbolic links" in one_line(done)


def test_newer_capture(memoir, samples, tmp_path, one_line):
    part, = (samples / "training").glob("*.memoir")
    changed = part.read_bytes()
    # ProcessInfo.format_version, the first field of the first chunk's process: 08 01 becomes 08 63.
    at = changed.index(b"\x12", 3, 60)
    at = changed.index(b"\x08\x01", at)
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / part.name).write_bytes(changed[:at] + b"\x08\x63" + changed[at + 2:])
    done = memoir("newer")
    assert done.returncode == 1 and "newer" in one_line(done)


def test_truncated_capture_shows_what_is_there(memoir, samples):
    done = memoir(samples / "losses")
    assert done.returncode == 0
    assert "peak 10.0 MiB" in done.stdout
    assert re.search(r"! damaged: \S+: cut in the middle of a chunk at offset", " ".join(done.stdout.split()))


@pytest.mark.parametrize("arguments, message", [(["--by", "operators"], "did you mean operator?"),
                                                (["--at", "noon"], "--at noon"),
                                                (["--steps", "5:2"], "--steps 5:2"),
                                                (["--over", "space"], "not one of time, operators"),
                                                (["--png", "x.png"], "--png and --svg draw --over time"),
                                                (["--tree", "--at", "peak"], "different views"),
                                                (["--range", "a", "--steps", "1:2"], "different windows"),
                                                (["--top", "-1"], "--top -1: expected a whole number"),
                                                (["--top", "9" * 23], ": expected a whole number"),
                                                (["--top", "abc"], "--top abc: expected a whole number"),
                                                (["--top", ""], "expected a whole number"),
                                                (["--rank", "-1"], "--rank -1: expected a whole number"),
                                                (["--top"], "--top: a value is missing"),
                                                (["--top", "3", "--top", "4"], "--top: given more than once"),
                                                (["--json=abc"], "--json")])
def test_show_refuses_what_makes_no_sense(memoir, samples, arguments, message, one_line):
    done = memoir("show", samples / "training", *arguments)
    assert done.returncode == 2 and message in one_line(done)
    assert "convert" not in done.stderr and "required" not in done.stderr


def test_instant_outside_of_the_recording(memoir, samples, one_line):
    done = memoir("show", samples / "training", "--at", "1.5")
    assert done.returncode == 1 and "the recording ends at 0.0083 s" in one_line(done)
    done = memoir("show", samples / "folded", "--at", "0.0001s")
    assert done.returncode == 1 and "what is left of the recording begins at 0.0031 s" in one_line(done)


def test_instant_outside_of_the_window(memoir, samples, one_line):
    def refused(*window, at):
        done = memoir("show", samples / "training", *window, "--at", at, "--json")
        assert done.returncode == 1 and done.stdout == "", done.stdout
        return one_line(done)

    # forward runs from 0.8 to 1.9 ms, 3.3 to 4.4 ms and 5.8 to 6.9 ms or so; the recording ends at 8.3 ms.
    for at in ("0.1ms", "8ms"):
        line = refused("--range", "forward#0", at=at)
        assert "lies outside of the window, 0.0008 s to 0.0019 s; leave out --range, or choose an instant inside" in line
    between = refused("--range", "forward", at="2.9ms")
    assert "lies outside of the 3 windows; the nearest is 0.0033 s to" in between
    assert "leave out --steps" in refused("--steps", "1:2", at="0.1ms")
    inside = json.loads(memoir("show", samples / "training", "--range", "forward", "--at", "1.3ms", "--json").stdout)
    whole = json.loads(memoir("show", samples / "training", "--at", "1.3ms", "--json").stdout)
    assert inside["devices"][0]["live_bytes"] == whole["devices"][0]["live_bytes"] > 0
    assert "the recording ends at" in refused("--range", "forward", at="1s")


def test_window_that_does_not_occur(memoir, samples, one_line):
    done = memoir(samples / "training", "--range", "forwrd")
    assert done.returncode == 1 and "forward" in one_line(done)
    done = memoir(samples / "training", "--at", "oom")
    assert done.returncode == 1 and "no out-of-memory error is recorded" in one_line(done)


def test_full_output_is_an_error(memoir, samples, fake_tree):
    with open("/dev/full", "w") as full:
        done = subprocess.run([fake_tree / "bin/memoir", samples / "training"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "No space left on device" in done.stderr


# Views through the program


def test_json_sums_close(memoir, samples):
    for sample in ("training", "ranks", "odd_names", "folded", "folded_peak"):
        for by, key in (("operator", "operators"), ("thread", "threads"), ("shape", "shapes"), ("range", "ranges")):
            report = json.loads(memoir("show", samples / sample, "--json", "--by", by).stdout)
            for row_key, device_key in (("allocated_bytes", "allocated_bytes"), ("net_bytes", "live_bytes_at_end"),
                                        ("bytes_at_peak", "peak_allocated_bytes")):
                rows = sum(row[row_key] for row in report[key])
                assert rows == sum(device[device_key] for device in report["devices"]), (sample, by, row_key)
                assert rows > 0 or (sample, row_key) == ("folded_peak", "net_bytes")


def nodes_of(node):
    yield node
    for child in node["children"]:
        yield from nodes_of(child)


def test_json_tree_has_every_node_unless_top_asks_for_fewer(memoir, samples):
    def tree(*arguments):
        return list(nodes_of(json.loads(memoir(samples / "many", "--tree", "--json", *arguments).stdout)["root"]))

    summary = json.loads(memoir(samples / "many", "--json").stdout)["devices"][0]
    for nodes in (tree(), tree("--top", "0"), tree("--top", "3")):
        assert sum(node["self_allocations"] for node in nodes) == summary["allocations"]
        assert sum(node["self_bytes"] for node in nodes) == summary["allocated_bytes"]
        assert sum(node["self_net_bytes"] for node in nodes) == summary["live_bytes_at_end"]
    assert tree() == tree("--top", "0")
    assert {node["kind"] for node in tree()} == {"root", "named"}
    assert {f"many::op{i}" for i in range(14)} | {f"deep{i}" for i in range(9)} == {n["name"] for n in tree()} - {""}
    other, = (node for node in tree("--top", "3") if node["kind"] == "other")
    assert (other["name"], other["rows"], other["source"]) == ("(other)", 12, None)
    assert "(5 others)" in memoir(samples / "many", "--tree").stdout


def test_bare_capture_is_show(memoir, samples):
    assert memoir(samples / "training").stdout == memoir("show", samples / "training").stdout != ""


def test_columns_are_respected(memoir, samples):
    narrow = memoir(samples / "odd_names", "--tree", COLUMNS=60).stdout
    wide = memoir(samples / "odd_names", "--tree", COLUMNS=200).stdout
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))


@pytest.mark.parametrize("by, key", [("operator", "operators"), ("module", "modules"), ("category", "categories"), ("line", "lines"), ("thread", "threads")])
def test_times_are_a_window_of_every_grouping(memoir, samples, by, key):
    def show(*arguments):
        done = memoir("show", samples / "training", "--by", by, "--json", *arguments)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        for column, total in (("bytes_at_peak", "peak_allocated_bytes"), ("allocated_bytes", "allocated_bytes")):
            assert sum(row[column] for row in report[key]) == report["devices"][0][total]
        return report["devices"][0]["allocated_bytes"]

    parts = [show("--to", "2.1ms"), show("--from", "2.1ms", "--to", "4ms"), show("--from", "4ms")]
    assert sum(parts) == show() and all(parts)


@pytest.mark.parametrize("view", [["--at", "peak"], ["--over", "time"], ["--by", "stack"], ["--by", "checkpoint"], ["--by", "parameter"], ["--tree"]])
def test_times_are_a_window_of_every_view(memoir, one_line, samples, view):
    done = memoir("show", samples / "trained", *view, "--from", "2ms", "--to", "5ms")
    assert done.returncode == 0 and done.stdout != memoir("show", samples / "trained", *view).stdout, done.stderr
    late = memoir("show", samples / "trained", *view, "--from", "5s")
    assert late.returncode == 1 and re.search(r"no event in that span of time; the recording is from 0\.\d{4} s to 0\.\d{4} s", one_line(late))


@pytest.fixture
def on_terminal(fake_tree):
    """The program's output on a terminal of so many columns."""

    def on_terminal(*arguments, columns=80, **variables):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        subprocess.run([fake_tree / "bin/memoir", *arguments], stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm", **variables})
        os.close(theirs)
        return os.read(ours, 65536).decode()

    return on_terminal


def test_colors_only_on_a_terminal(on_terminal, samples):
    assert "\x1b[" in on_terminal(samples / "one_operator", NO_COLOR="")
    assert "\x1b[" not in on_terminal(samples / "one_operator", NO_COLOR="1")
    assert "\x1b[" not in on_terminal(samples / "one_operator", NO_COLOR="", TERM="dumb")


def test_as_wide_as_the_terminal_with_bars(memoir, on_terminal, samples):
    longest = {}
    for columns in (60, 80, 140):
        lines = on_terminal(samples / "training", columns=columns, NO_COLOR="1").splitlines()
        assert max(map(len, lines)) <= columns, lines
        longest[columns] = max(line.count("█") for line in lines)
    assert 0 < longest[80] <= longest[140] == 24
    piped = memoir(samples / "training").stdout
    assert "█" not in piped and max(map(len, piped.splitlines())) <= 80


def test_export_events(memoir, samples, tmp_path, one_line):
    assert memoir("export", "events", samples / "training", "-o", "events.jsonl").returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert memoir("export", "events", samples / "training").stdout == (tmp_path / "events.jsonl").read_text()
    assert sum(line["bytes"] for line in lines if line["event"] == "allocate") == \
        json.loads(memoir("show", samples / "training", "--json").stdout)["devices"][0]["allocated_bytes"]
    done = memoir("export", "event", samples / "training")
    assert done.returncode == 2 and "did you mean events?" in one_line(done)
    for output, cause in (("missing/file", "make its folder first"), (tmp_path, "name a file in it"), ("/dev/full", "make room")):
        done = memoir("export", "events", samples / "training", "-o", output)
        assert done.returncode == 1 and cause in one_line(done)


# Doctor and help


def test_doctor_finds_what_is_wrong(memoir, tmp_path):
    done = memoir("doctor", "--python", sys.executable, "--json", MEMOIR_OUTPT="x", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert done.returncode == 3
    report = json.loads(done.stdout)
    wrong = {check["subject"] for check in report["checks"] if check["level"] == "wrong"}
    assert {"variables", "start-up"} <= wrong and report["wrong"] >= 2
    assert all(check["fix"] for check in report["checks"] if check["level"] != "ok")


def test_doctor_is_content(memoir, tmp_path):
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit('imported')")
    (torch / "version.py").write_text("__version__ = '9.9.1'\n")
    done = memoir("doctor", "--python", sys.executable, PYTHONPATH=tmp_path / "site", MEMOIR_RING_DIR=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "9.9.1" in done.stdout and "Recorded here" in done.stdout


def test_doctor_asks_for_the_room_that_the_ring_will_take(memoir, tmp_path):
    def ring(**variables):
        done = memoir("doctor", "--json", "--python", sys.executable, MEMOIR_RING_DIR=tmp_path, **variables)
        return next(check for check in json.loads(done.stdout)["checks"] if check["subject"] == "ring folder")

    assert ring()["level"] == "ok"
    assert ring(MEMOIR_RING_SIZE="1000TiB")["level"] == "note"


def test_doctor_without_path(memoir, fake_tree):
    done = subprocess.run([fake_tree / "bin/memoir", "doctor", "--python", sys.executable], env={}, capture_output=True, text=True)
    assert f"({sys.executable})" in done.stdout or f"({os.path.realpath(sys.executable)})" in done.stdout
    done = subprocess.run([fake_tree / "bin/memoir", "doctor"], env={}, capture_output=True, text=True)
    assert " ()" not in done.stdout


def test_doctor_without_python(memoir):
    done = memoir("doctor", "--python", "/no/such/python")
    assert done.returncode == 3 and "does not run here" in done.stdout


@pytest.mark.parametrize("verb", ["run", "show", "check", "explain", "export", "symbolize", "doctor"])
def test_help_has_two_examples(memoir, verb):
    done = memoir(verb, "--help")
    assert done.returncode == 0
    examples = done.stdout.split("Examples:")[1].strip().splitlines()
    assert len(examples) == 2 and all("memoir" in example for example in examples)


@pytest.mark.parametrize("verb", ["run", "show", "check", "fit", "explain", "export", "symbolize", "doctor"])
@pytest.mark.parametrize("columns, most", [("", 80), ("70", 70), ("300", 100)])
def test_help_fits_the_terminal(memoir, verb, columns, most):
    lines = memoir(verb, "--help", COLUMNS=columns).stdout.split("Examples:")[0].splitlines()
    # A word that fits nowhere stands alone in its line.
    assert all(len(line) <= most or " " not in line.strip() for line in lines), [line for line in lines if len(line) > most]
    assert max(map(len, lines)) > most * 3 // 4


def test_help_names_every_verb_with_an_example(memoir):
    text = memoir("--help").stdout
    for verb in ("run", "show", "explain", "symbolize", "check", "fit", "report", "export", "doctor"):
        assert re.search(rf"^  {verb} +\S", text, re.MULTILINE) and f"\n               memoir {verb}" in text, verb
        assert memoir(verb, "--help").returncode == 0


def test_help_and_version(memoir):
    assert memoir("--help").returncode == 0 and "memoir run" in memoir("--help").stdout
    assert max(map(len, memoir("--help").stdout.splitlines())) <= 80
    assert memoir("--version").stdout.startswith("memoir 0.")
    assert memoir().returncode == 2


# A recording whose process died


def test_ring_of_a_dead_process_is_merged_first(memoir, samples, tmp_path, one_line):
    capture, ring = tmp_path / "died", pathlib.Path((samples / "died" / "ring_path").read_text())
    shutil.copytree(samples / "died", capture)
    ring.write_bytes(b"")
    done = memoir(capture)
    assert done.returncode == 0 and (ring.parent / "drained").read_text().split() == [str(ring)]
    assert "the newest events of process 999999999 (rank 0) were merged from" in one_line(done)
    assert memoir(capture).stderr == ""   # once is enough


def test_merge_that_fails_is_said_and_the_rest_is_shown(memoir, samples, fake_tree, tmp_path):
    ring = pathlib.Path((samples / "died" / "ring_path").read_text())
    ring.write_bytes(b"")
    tree = tmp_path / "tree"
    shutil.copytree(fake_tree, tree)
    (tree / "libexec/memoir/memoir-drain").write_text("#!/bin/sh\nexit 1\n")
    done = memoir(samples / "died", program=tree / "bin/memoir")
    ring.unlink()
    assert done.returncode == 0 and "peak 4.0 MiB" in done.stdout
    assert "are not merged: memoir-drain ended with 1" in done.stderr


@pytest.mark.parametrize("whose", ["another user's", "a link"])
def test_a_capture_cannot_have_a_ring_merged_that_is_not_ours(memoir, samples, fake_tree, tmp_path, whose):
    """Merging writes where the ring says, and a capture that comes from anywhere names the ring."""
    if os.geteuid() != 0:
        pytest.skip("giving a file to another user takes root")
    ring = pathlib.Path((samples / "died" / "ring_path").read_text())
    (ring.parent / "drained").unlink(missing_ok=True)
    if whose == "a link":
        (tmp_path / "theirs").write_bytes(b"ring")
        ring.symlink_to(tmp_path / "theirs")
    else:
        ring.write_bytes(b"ring")
        os.chown(ring, 65534, 65534)
    try:
        done = memoir(samples / "died")
        assert done.returncode == 0 and ("belongs to another user" in done.stderr) == (whose == "another user's"), done.stderr
        assert os.path.lexists(ring) and not (ring.parent / "drained").exists()
    finally:
        ring.unlink()


def test_an_export_replaces_a_link_and_does_not_follow_it(memoir, samples, tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "events.jsonl").symlink_to("theirs")
    assert memoir("export", "events", samples / "training", "-o", "events.jsonl").returncode == 0
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert not (tmp_path / "events.jsonl").is_symlink() and (tmp_path / "events.jsonl").read_text().startswith('{"event":')
