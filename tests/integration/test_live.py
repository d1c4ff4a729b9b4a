"""memoir live on recordings that are being written: its figures, and that it does not change them."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import termios
import time
import urllib.error
import urllib.request

import pytest

from watched import TRAINS, Training, on_terminal, wait_until

@pytest.fixture(scope="module")
def training(tree, tmp_path_factory):
    with Training(tree, tmp_path_factory.mktemp("training")) as program:
        yield program
        output, errors = program.finish()
        assert output == "trained to the end\n" and program.process.returncode == 0, errors


def cpu(line):
    return next(device for device in line["processes"][0]["devices"] if device["device"] == "cpu")


def test_one_line_of_json_for_each_look(training):
    with training.watch() as live:
        lines = [json.loads(live.stdout.readline()) for _ in range(8)]
        live.send_signal(signal.SIGTERM)
        assert live.wait(timeout=150) == 128 + signal.SIGTERM
    first, last = lines[0], lines[-1]
    (process,) = last["processes"]
    assert last["version"] == 1 and last["view"] == "live" and last["time_ns"] > first["time_ns"]
    assert process["program"] == "train.py" and process["pid"] == training.pid and process["state"] == "running"
    assert process["step_source"] == "optimizer_step" and process["step"] > first["processes"][0]["step"]
    assert 0.01 < process["step_seconds"] < 5 and process["data_age_seconds"] < 10
    parameters = 2 * (256 * 256 + 256) * 4
    device = cpu(last)
    categories = {row["name"]: row["bytes"] for row in device["categories"]}
    assert categories["parameter"] == parameters and categories["optimizer state"] >= 2 * parameters
    assert device["step_peak_bytes"] >= 4 * parameters and device["growth"] is None and process["findings"] == []
    assert device["headroom_bytes"] > 0


def test_plain_lines_and_one_look(training):
    once = training.live("--once").stdout
    assert once.startswith(f"memoir live {training.capture}") and "train.py, rank 0 (pid" in once and "parameter" in once, once
    assert max(map(len, once.splitlines())) <= 80
    with subprocess.Popen([training.tree / "bin" / "memoir", "live", "--interval", "0.2", training.capture], stdout=subprocess.PIPE, text=True) as live:
        lines = [live.stdout.readline() for _ in range(3)]
        live.terminate()
    assert all("train.py, running for" in line and "cpu allocated" in line for line in lines), lines


def test_by_the_number_of_a_process(training):
    for pid in (training.pid, training.process.pid):  # the program, and `memoir run`
        assert json.loads(training.live("--once", "--json", what=str(pid)).stdout)["processes"][0]["pid"] == training.pid
    part = next(training.capture.glob("*.memoir"))
    assert json.loads(training.live("--once", "--json", what=part).stdout)["processes"][0]["pid"] == training.pid
    newest = subprocess.run([training.tree / "bin" / "memoir", "live", "--once", "--json"], capture_output=True, text=True, timeout=150)
    assert newest.returncode == 0 and json.loads(newest.stdout)["processes"], newest.stderr


def test_what_is_no_recording(training):
    with subprocess.Popen(["sleep", "100"]) as sleeps:
        for what, says in (("no-such-folder", "no such file or folder"), ("4194999", "there is no process 4194999"), (str(sleeps.pid), "records nothing")):
            done = training.live("--once", what=what)
            assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
        sleeps.kill()


UNTIL_SEEN = """
import os, sys, time, torch
kept, end = torch.ones(1 << 20), time.time() + 600
while not os.path.exists(sys.argv[1]) and time.time() < end: time.sleep(0.02)
"""


@pytest.mark.parametrize("begun", ["nothing", "the folder"])
def test_a_recording_that_has_not_begun_is_waited_for(tree, tmp_path, begun):
    capture = tmp_path / "run7"
    if begun == "the folder":
        capture.mkdir()
    live = subprocess.Popen([tree / "bin" / "memoir", "live", "--json", "--interval", "0.3", capture], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        says = {"nothing": "no such file or folder", "the folder": "an empty folder"}[begun]
        line = live.stderr.readline()
        assert says in line and line.endswith(". Waiting for it; ^C ends this\n"), line
        assert live.poll() is None
        program = tmp_path / "program.py"
        program.write_text(UNTIL_SEEN)
        with subprocess.Popen([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, program, tmp_path / "seen"]) as run:
            try:
                first = json.loads(live.stdout.readline())
            finally:
                (tmp_path / "seen").touch()
            assert first["capture"] == str(capture) and first["processes"][0]["state"] == "running"
            _, errors = live.communicate(timeout=150)
            assert live.returncode == 0 and errors == "" and run.wait() == 0
    finally:
        live.kill()


def test_the_wait_for_a_recording_ends_with_a_signal(tree, tmp_path):
    live = subprocess.Popen([tree / "bin" / "memoir", "live", tmp_path / "run7"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "Waiting for it" in live.stderr.readline()
    live.terminate()
    assert live.communicate(timeout=150) == ("", "") and live.returncode == 128 + signal.SIGTERM


def test_its_mark_is_gone_afterwards_and_no_other_file_is_one(training, tmp_path):
    folder, other = pathlib.Path(json.loads(training.live("--once", "--json").stdout)["capture"]), tmp_path / ".followed"
    assert folder.is_dir() and not (folder / ".followed").exists()
    other.write_text("of somebody else")
    assert training.live("--once", what=tmp_path).returncode == 1
    (folder / ".followed").write_text("likewise")
    try:
        assert training.live("--once").returncode == 0
        assert other.read_text() == "of somebody else" and (folder / ".followed").read_text() == "likewise"
    finally:
        (folder / ".followed").unlink()


@pytest.mark.parametrize("arguments", [["--interval", "0"], ["--interval", "x"], ["--cpu", "-1"]])
def test_wrong_usage(training, arguments):
    assert training.live(*arguments).returncode == 2


def test_a_snapshot_without_a_terminal(training):
    done = subprocess.run([training.tree / "bin" / "memoir", "live", training.capture, "snapshot"], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    folder = pathlib.Path(done.stdout.strip())
    assert folder.parent == training.capture / "snapshots"
    shown = subprocess.run([training.tree / "bin" / "memoir", "show", "--json", folder], capture_output=True, text=True, timeout=150)
    assert json.loads(shown.stdout)["processes"][0]["snapshot"] == "control file"


def test_for_prometheus(training, tmp_path):
    file = tmp_path / "memoir.prom"
    training.live("--once", "--prometheus", file)
    lines = file.read_text().splitlines()
    assert any(line.startswith('memoir_allocated_bytes{rank="0",') and 'device="cpu"' in line for line in lines), lines
    assert "# TYPE memoir_steps_total counter" in lines and list(tmp_path.iterdir()) == [file]
    with subprocess.Popen([training.tree / "bin" / "memoir", "live", "--prometheus", "0", training.capture], stderr=subprocess.PIPE, text=True) as live:
        address = live.stderr.readline().split()[-1]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=150) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert "memoir_running{" in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address + "/no/such/thing", timeout=150)
        live.terminate()


def test_killing_it_does_nothing_to_the_program(training):
    with training.watch() as live:
        before = json.loads(live.stdout.readline())["processes"][0]["step"]
        live.kill()
    assert training.process.poll() is None
    wait_until(lambda: json.loads(training.live("--once", "--json").stdout)["processes"][0]["step"] > before)


def test_the_terminal_is_as_it_was(training):
    for end, code in (("q", 0), (signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM)):
        with on_terminal(training) as terminal:
            assert termios.tcgetattr(terminal.terminal)[3] & termios.ECHO == 0
            if end == "q":
                terminal.key("q")
            else:
                terminal.live.send_signal(end)
            assert terminal.end() == code


def test_another_size_and_keys(training):
    with on_terminal(training) as terminal:
        terminal.wait_for("parameter")
        terminal.output = terminal.output[: terminal.output.index("\x1b[2J")]  # keeps the begin for end()
        terminal.resize(50, 200)  # no line breaks within what is waited for
        terminal.live.send_signal(signal.SIGWINCH)
        terminal.wait_for("q quit  s snapshot  o recording off")
        before = set((training.capture / "snapshots").glob("*"))
        terminal.key("s")
        terminal.wait_for(f"snapshot: {training.capture}/snapshots/")
        assert len(set((training.capture / "snapshots").glob("*")) - before) == 1
        terminal.key("o")
        terminal.wait_for("recording is off")
        terminal.key("o")
        terminal.wait_for("recording is switched on")
        wait_until(lambda: json.loads(training.live("--once", "--json").stdout)["processes"][0]["recording"] == "all")
        terminal.key("q")
        assert terminal.end() == 0


def test_a_leak_and_how_the_recording_ended(tree, tmp_path):
    with Training(tree, tmp_path, "leak") as program, program.watch() as live:
        end = time.monotonic() + 300
        for text in live.stdout:
            line = json.loads(text)
            if line["processes"][0]["findings"]:
                break
            assert time.monotonic() < end, line
        growth = cpu(line)["growth"]
        assert growth["bytes_per_step"] == pytest.approx(1 << 20, rel=0.02)
        assert growth["seconds_left"] > 1 and growth["steps_left"] == pytest.approx(cpu(line)["headroom_bytes"] / (1 << 20), rel=0.2)
        (finding,) = line["processes"][0]["findings"]
        assert finding["kind"] == "growth" and "memory runs out in" in finding["text"]
        program.done.touch()
        last = json.loads(live.stdout.readlines()[-1])["processes"][0]
        assert live.wait(timeout=150) == 0
        assert (last["state"], last["end"]) == ("ended", "")


def test_one_that_is_killed(tree, tmp_path):
    with Training(tree, tmp_path) as program, program.watch() as live:
        live.stdout.readline()
        os.kill(program.pid, signal.SIGKILL)
        last = json.loads(live.stdout.readlines()[-1])["processes"][0]
        assert live.wait(timeout=150) == 0
        assert last["state"] == "died" and last["findings"][0]["kind"] == "died"
        assert last["step"] > 0


def test_two_ranks(tree, tmp_path):
    (tmp_path / "train.py").write_text(TRAINS)
    (tmp_path / "job.py").write_text(
        "import os, subprocess, sys\n"
        "ranks = [subprocess.Popen([sys.executable, *sys.argv[1:], *(['leak'] if rank == 1 else [])],\n"
        "                          env={**os.environ, 'RANK': str(rank), 'WORLD_SIZE': '2', 'LOCAL_RANK': str(rank), 'TORCHELASTIC_RUN_ID': 'x'}) for rank in range(2)]\n"
        "sys.exit(max(rank.wait() for rank in ranks))\n"
    )
    capture, done = tmp_path / "capture", tmp_path / "done"
    command = [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, tmp_path / "job.py", tmp_path / "train.py", done]
    with subprocess.Popen(list(map(str, command)), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as job:
        try:

            def ranks():
                looked = subprocess.run([tree / "bin" / "memoir", "live", "--once", "--json", capture], capture_output=True, text=True, timeout=150)
                processes = json.loads(looked.stdout)["processes"] if looked.returncode == 0 else []
                return {process["rank"]: process for process in processes if process["step"] > 30}

            wait_until(lambda: ranks().keys() == {0, 1})
            wait_until(lambda: ranks()[1]["findings"])
            assert ranks()[0]["findings"] == []
            text = subprocess.run([tree / "bin" / "memoir", "live", "--once", capture], capture_output=True, text=True, timeout=150).stdout
            assert "rank 0 (pid" in text and "rank 1 (pid" in text and "cpu grows by 1.0 MiB a step" in text, text
        finally:
            done.touch()
        _, errors = job.communicate(timeout=250)
        assert job.returncode == 0, errors
