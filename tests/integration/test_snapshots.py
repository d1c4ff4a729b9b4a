"""Snapshots of a running program: their contents and the recording's at the same instant, who may request one, and what happens if it cannot be written."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time

import pytest

from recording import record, run_explicit, run_memoir, show

TRAINS = """
import torch, memoir
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64))
optimizer = torch.optim.AdamW(model.parameters())
"""
AT_AN_INSTANT = TRAINS + """
for number in range(3):
    memoir.step(number)
    loss = model(torch.randn(32, 64)).sum()
    if number == 2:
        memoir.mark("here")
        print(memoir.snapshot())
    loss.backward()
    if number == 2:
        memoir.mark("graded")
        print(memoir.snapshot("graded"))
    optimizer.step(); optimizer.zero_grad()
"""


def live(tree, capture, at, by="category"):
    report = show(tree, capture, "--at", at, "--by", by, "--top", "0")
    (device,) = report["devices"]
    (rows,) = [value for key, value in device.items() if isinstance(value, list) and key != "largest_blocks"]
    return {row["name"]: row["bytes"] for row in rows}, device["live_bytes"]


def held(rows):
    return {name: rows.get(name) for name in ("parameter", "gradient", "optimizer state")}


def test_as_the_recording_at_that_instant(tree, tmp_path):
    capture, done = record(tree, tmp_path, AT_AN_INSTANT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split()
    assert first == str(capture / "snapshots" / "0001") and second == str(tmp_path / "graded")
    for snapshot, mark in ((first, "mark:here"), (second, "mark:graded")):
        for by in ("operator", "line", "module"):
            assert live(tree, snapshot, "end", by) == live(tree, capture, mark, by), (mark, by)
        there, here = live(tree, capture, mark), live(tree, snapshot, "end")
        assert here[1] == there[1] > 0
        assert held(here[0]) == held(there[0]) and here[0].get("activation", 0) >= there[0].get("activation", 0)
    assert held(live(tree, second, "end")[0])["gradient"] > 0
    assert not any(block["before_window"] for block in show(tree, second, "--at", "end")["devices"][0]["largest_blocks"])
    assert "0.weight" in live(tree, second, "end", "parameter")[0]
    report = show(tree, first, "--by", "operator")
    assert report["dropped_events"] == 0 and report["keyframe_mismatches"] == 0 and report["lost_records"] == 0
    assert report["processes"][0]["snapshot"] == "program" and show(tree, capture)["processes"][0]["snapshot"] == ""


def test_every_command_opens_one(tree, tmp_path):
    capture, done = record(tree, tmp_path, AT_AN_INSTANT, cwd=tmp_path)
    snapshot = done.stdout.split()[0]
    text = run_memoir(tree, "show", snapshot)
    assert text.returncode == 0 and "SNAPSHOT (program)" in text.stdout and "optimizer state" in text.stdout, text
    for by in ("operator", "line", "module", "parameter", "rank"):
        text = run_memoir(tree, "show", "--by", by, snapshot)
        assert text.returncode == 0 and "Live at the end of cpu" in text.stdout and "evicted" not in text.stdout, text
    assert live(tree, snapshot, "peak") == live(tree, snapshot, "end"), "its peak is what was live: of what came before nothing is shown"
    assert run_memoir(tree, "check", snapshot).returncode == 0
    assert run_memoir(tree, "explain", snapshot, "0.weight").returncode == 0
    page = tmp_path / "page.html"
    assert run_memoir(tree, "report", "-o", page, snapshot).returncode == 0 and page.stat().st_size > 100_000
    assert json.loads(run_memoir(tree, "export", "events", snapshot).stdout.splitlines()[0])


def test_files_are_the_owners_alone(tree, tmp_path):
    capture, done = record(tree, tmp_path, AT_AN_INSTANT, cwd=tmp_path)
    folder = pathlib.Path(done.stdout.split()[0])
    (part,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and stat.S_IMODE(part.stat().st_mode) == 0o600


WAITS = TRAINS + """
import os, sys, time
loss = model(torch.randn(32, 64)).sum()
open("ready", "w").close()
end = time.time() + 600
while not os.path.exists("done") and time.time() < end:
    torch.add(loss, 1)
    time.sleep(0.001)
"""


@pytest.mark.parametrize("way", ["signal", "control file"])
def test_from_a_shell(tree, tmp_path, way):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(WAITS)
    options = ["--snapshot-signal", "USR1"] if way == "signal" else []
    with subprocess.Popen([tree / "bin" / "memoir", "run", "-o", capture, *options, "--", sys.executable, program], cwd=tmp_path, text=True,
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as running:
        wait_for(tmp_path / "ready")
        if way == "signal":
            os.kill(int(child_of(running.pid)), signal.SIGUSR1)
        else:
            (capture / "control").write_text("snapshot\n")
        wait_for(capture / "snapshots" / "0001")
        (tmp_path / "done").touch()
        _, errors = running.communicate(timeout=300)
    assert running.returncode == 0, errors
    assert f"memoir: snapshot ({way}): memoir {capture}/snapshots/0001" in errors
    rows, total = live(tree, capture / "snapshots" / "0001", "end")
    assert rows["parameter"] > 0 and total > 0


def wait_for(path):
    end = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.01)


def child_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]


def test_of_what_ends_the_program(tree, tmp_path):
    source = TRAINS + "kept = torch.ones(1 << 20)\nraise RuntimeError('no more')\n"
    capture, done = record(tree, tmp_path, source, options=("--snapshot-on", "exception,exit"))
    assert done.returncode == 1 and "memoir:" not in done.stderr, "it was told to be quiet"
    (folder,) = (capture / "snapshots").iterdir()
    assert live(tree, folder, "end")[1] >= 4 << 20
    assert show(tree, folder)["processes"][0]["snapshot"] == "exception"


@pytest.mark.parametrize("end, code", [("sys.exit(3)", 3), ("memoir.snapshot(); sys.exit(256)", 0)])
def test_of_a_program_that_fails(tree, tmp_path, end, code):
    source = TRAINS + f"import sys\nkept = torch.ones(1 << 20)\n{end}\n"
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(source)
    done = run_memoir(tree, "run", "--snapshot-on", "exit", "-o", capture, "--", sys.executable, program)
    assert done.returncode == code, done.stderr
    made = sorted((capture / "snapshots").iterdir()) if (capture / "snapshots").exists() else []
    if code == 0:
        assert [folder.name for folder in made] == (["0001"] if "snapshot" in end else []), "the one of the end is taken away, one that was asked for is not"
        assert "snapshot (exit)" not in done.stderr
    else:
        assert len(made) == 1 and f"memoir: snapshot (exit): memoir {made[0]}" in done.stderr
        assert live(tree, made[0], "end")[1] >= 4 << 20 and show(tree, made[0])["processes"][0]["snapshot"] == "exit"


def test_where_none_can_be_made(tree, tmp_path):
    source = TRAINS + """
import threading
open("file", "w").close()
for path in ("file", "file/below", "/proc/nowhere"):
    try:
        memoir.snapshot(path)
        raise SystemExit(f"{path} was written")
    except RuntimeError as error:
        print(str(error).replace(chr(10), " "))
print(memoir.snapshot("same"))
try:
    memoir.snapshot("same")
    raise SystemExit("twice")
except RuntimeError as error:
    print(error)
folders = []
threads = [threading.Thread(target=lambda: folders.append(memoir.snapshot())) for _ in range(8)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
assert len(set(folders)) == 8, folders
memoir.pause(); memoir.resume()
assert torch.ones(3).sum() == 3
"""
    capture, done = record(tree, tmp_path, source, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    lines = done.stdout.splitlines()
    assert all("cannot make the folder" in line and "another folder" in line for line in lines[:3]), lines
    assert lines[3] == str(tmp_path / "same") and "has a snapshot of this process already; choose another folder" in lines[4]
    assert len(list((tmp_path / "same").iterdir())) == 1
    assert show(tree, capture)["dropped_events"] == 0


def test_of_a_process_that_records_again(tree, tmp_path):
    source = """
import os, torch, memoir
for _ in range(2):
    memoir.start("capture")
    kept = torch.ones(1000)
    print(os.path.basename(memoir.snapshot()))
    try:
        memoir.snapshot(memoir.output_dir())
        raise SystemExit("into the recording")
    except RuntimeError as error:
        assert "is the recording's own folder; choose another one" in str(error), error
    memoir.stop()
"""
    done = run_explicit(tree, tmp_path, source, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.split() == ["0001", "0002"], done.stderr + done.stdout


def test_of_a_full_disk(tree, tmp_path):
    """A snapshot that could not be written leaves no file, and the recording goes on."""
    source = TRAINS + """
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
kept = [torch.empty(i + 1) for i in range(20000)]
memoir.flush()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, hard))
try:
    memoir.snapshot("small")
    raise SystemExit("it fitted")
except RuntimeError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
print(os.listdir("small"), memoir.snapshot("small"))
"""
    capture, done = record(tree, tmp_path, source, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    failed, made = done.stdout.splitlines()
    assert "cannot write" in failed and "ulimit -f" in failed and made == f"[] {tmp_path}/small"
    assert show(tree, tmp_path / "small", "--by", "operator")["damage"] == []


def test_of_a_process_that_is_not_recorded(tree, tmp_path):
    source = """
import memoir
assert memoir.snapshot() is None
import torch
memoir.start("capture"); torch.ones(3); memoir.stop()
assert memoir.snapshot() is None
"""
    done = run_explicit(tree, tmp_path, source, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options, message", [(("--snapshot-on", "never"), "expected oom, exception and exit"), (("--snapshot-signal", "KILL"), "a signal that a program may use")])
def test_what_is_refused(tree, tmp_path, options, message):
    done = run_memoir(tree, "run", *options, "-o", tmp_path / "capture", "--", "true")
    assert done.returncode == 2 and message in done.stderr
