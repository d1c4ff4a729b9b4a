"""memoir export collapsed, speedscope and pprof: the files are valid, and their bytes equal memoir show --by stack."""

import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess

import pytest

MEASURES = {"peak": "bytes_at_peak", "allocated": "allocated_bytes", "kept": "net_bytes"}
SAMPLES = ["training", "empty", "one_operator", "odd_names", "losses", "folded", "trained", "cuda_unknown", "driver"]


def stacks_of(memoir, sample):
    """Of memoir show --by stack: the sums of all that was recorded."""
    return json.loads(memoir("show", "--by", "stack", "--json", sample).stdout)["nodes"][0]["subtree"]


def collapsed(memoir, sample, *options):
    done = memoir("export", "collapsed", *options, sample)
    assert done.returncode == 0, done.stderr
    rows = [re.fullmatch(r"(.+) (\d+)", line) for line in done.stdout.splitlines()]
    assert all(rows), done.stdout
    return {row[1]: int(row[2]) for row in rows}


@pytest.mark.parametrize("sample", SAMPLES)
def test_collapsed_adds_up(memoir, samples, sample):
    sums = stacks_of(memoir, samples / sample)
    for by in ("stack", "module"):
        for measure, key in MEASURES.items():
            assert sum(collapsed(memoir, samples / sample, "--by", by, "--measure", measure).values()) == sums[key], (by, measure)


def test_frames_are_modules_and_operators(memoir, samples):
    done = memoir("export", "collapsed", "--measure", "allocated", samples / "trained")
    assert "no Python stack was recorded" in done.stderr
    assert any(";aten::" in line for line in done.stdout.splitlines()), done.stdout


@pytest.mark.parametrize("sample", SAMPLES)
def test_speedscope(memoir, samples, sample):
    done = memoir("export", "speedscope", "--measure", "allocated", samples / sample)
    file = json.loads(done.stdout)
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert file["activeProfileIndex"] == 1 and len(file["profiles"]) == 4
    frames = file["shared"]["frames"]
    assert all(isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"} for frame in frames)
    sums = stacks_of(memoir, samples / sample)
    for profile, key in zip(file["profiles"], ["bytes_at_peak", "allocated_bytes", None, "net_bytes"], strict=True):
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "bytes", 0)
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= frame < len(frames) for stack in profile["samples"] for frame in stack)
        assert profile["endValue"] == sum(profile["weights"])
        assert key is None or profile["endValue"] == sums[key]


def profile_of(memoir, tmp_path, sample, *options):
    path = tmp_path / "profile.pb.gz"
    done = memoir("export", "pprof", *options, sample, "-o", path)
    assert done.returncode == 0, done.stderr
    return path


def raw_fields(message):
    """A protobuf message without its schema: (number, value) with bytes for what has a length."""
    def varint(at):
        value, shift = 0, 0
        while True:
            byte = message[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at
    at, fields = 0, []
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            assert key & 7 == 2
            length, at = varint(at)
            value, at = message[at:at + length], at + length
            assert len(value) == length
        fields.append((key >> 3, value))
    return fields


def packed(message):
    return [value for number, value in raw_fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", message)))]


@pytest.mark.parametrize("sample", SAMPLES)
def test_pprof_holds_the_sums(memoir, samples, tmp_path, sample):
    fields = raw_fields(gzip.decompress(profile_of(memoir, tmp_path, samples / sample).read_bytes()))
    texts = [value.decode() for number, value in fields if number == 6]
    assert texts[0] == "" and len(set(texts)) == len(texts)
    types = [texts[dict(raw_fields(value))[1]] for number, value in fields if number == 1]
    assert types == ["peak_objects", "alloc_objects", "peak_space", "alloc_space", "temporary_space", "kept_space"]
    assert [texts[value] for number, value in fields if number == 14] == ["peak_space"]
    locations = {dict(raw_fields(value))[1] for number, value in fields if number == 4}
    found = [dict(raw_fields(value)) for number, value in fields if number == 2]
    assert all(set(packed(sample[1])) <= locations for sample in found)
    sums = stacks_of(memoir, samples / sample)
    values = [packed(sample[2]) for sample in found]
    for place, key in enumerate(["blocks_at_peak", "allocations", "bytes_at_peak", "allocated_bytes", None, "net_bytes"]):
        assert key is None or sum(value[place] for value in values) == sums[key], key


@pytest.mark.skipif(shutil.which("go") is None, reason="go tool pprof is not installed")
@pytest.mark.parametrize("sample", SAMPLES)
def test_go_tool_pprof_reads_it(memoir, samples, tmp_path, sample):
    path = profile_of(memoir, tmp_path, samples / sample, "--measure", "allocated")
    # The first `go tool pprof` of a machine compiles pprof.
    done = subprocess.run(["go", "tool", "pprof", "-raw", path], check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "alloc_space/bytes[dflt]" in done.stdout
    rows = re.findall(r"^((?: +\d+){6}): [\d ]+$", done.stdout, re.MULTILINE)
    sums = stacks_of(memoir, samples / sample)
    assert sum(int(row.split()[3]) for row in rows) == sums["allocated_bytes"]


def test_hostile_names(memoir, samples, tmp_path):
    text = memoir("export", "collapsed", "--measure", "allocated", samples / "odd_names").stdout
    assert text and "\x1b" not in text
    assert all(line.isprintable() for line in text.splitlines())
    assert "\x1b" not in memoir("export", "speedscope", samples / "odd_names").stdout


@pytest.mark.parametrize("arguments, message", [
    (["collapsed", "--measure", "peek"], "did you mean peak?"),
    (["collapsed", "--by", "line"], "not one of stack, module"),
    (["pprof", "--by", "module", "--all-frames"], "--all-frames works only with --by stack"),
    (["events", "--measure", "peak"], "only with collapsed, speedscope and pprof"),
    (["speedscop"], "did you mean speedscope?"),
])
def test_refused(memoir, samples, arguments, message, one_line):
    done = memoir("export", *arguments, samples / "training")
    assert done.returncode == 2 and message in one_line(done)


@pytest.mark.parametrize("what", ["collapsed", "speedscope", "pprof", "perfetto", "chrome"])
def test_a_full_disk_leaves_the_file_of_before(fake_tree, samples, tmp_path, what):
    def few_bytes():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    output = tmp_path / "output"
    output.write_text("an old file")
    command = [fake_tree / "bin" / "memoir", "export", what, samples / "training", "-o", output]
    done = subprocess.run(command, check=False, preexec_fn=few_bytes, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and f"cannot write {output}" in done.stderr, done.stderr
    assert os.listdir(tmp_path) == ["output"] and output.read_text() == "an old file"
