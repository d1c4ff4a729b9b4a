"""memoir run --summary-every: a summary of each rank while the command runs, by a program that ends with it."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = '''
import os, pathlib, signal, time, torch
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
while not pathlib.Path("enough").exists():
    model(torch.ones(32, 64)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.005)
    if pathlib.Path("stop").exists():   # with so much in the ring that is not yet in a file
        for _ in range(100): torch.ones(1)
        os.kill(os.getpid(), signal.SIGSTOP)
'''


def overview(tree, folder):
    done = subprocess.run([tree / "bin/memoir", "show", "--by", "job", "--json", folder], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def wait_for(what, seconds=120):
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.1)
    return found


def processes(*words, folder=None):
    """Numbers of those whose command line has all words, and that run in this folder. Others end meanwhile."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line, runs_in = path.read_bytes().split(b"\0"), folder and os.readlink(path.with_name("cwd"))
        except OSError:
            continue
        if all(word.encode() in line for word in words) and runs_in == (folder and str(folder)):
            found.append(int(path.parent.name))
    return found


@pytest.fixture
def start(tree, tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    started = []

    def start(*command):
        environment = {**os.environ, "RANK": "1", "WORLD_SIZE": "2"}
        started.append(subprocess.Popen([tree / "bin/memoir", "run", "--summary-every", "1", "-o", "capture", "--", *command], cwd=tmp_path, env=environment,
                                        stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    (tmp_path / "enough").touch()
    for run in started:
        run.communicate(timeout=300)


@pytest.fixture
def running(start):
    return start(sys.executable, "train.py")


def steps_of_running(tree, folder):
    """From the summary of a recording that has not ended; 0: no summary yet."""
    shown = overview(tree, folder) if list(folder.glob("*.memoir-summary")) else None
    behind = shown and [one for one in shown["summaries"]["lacking"] if one["lack"] == "behind"]
    return shown["recordings"][0]["steps"] if behind and shown["summaries"]["read"] == 1 else 0


def test_summaries_come_while_it_runs_and_fit_at_the_end(tree, tmp_path, running):
    folder = tmp_path / "capture"
    steps = wait_for(lambda: steps_of_running(tree, folder))
    wait_for(lambda: steps_of_running(tree, folder) > steps)
    assert processes("summarize", "--own", str(folder))
    (tmp_path / "enough").touch()
    assert running.wait(timeout=300) == 0
    assert not processes("summarize", "--own", str(folder))
    whole = overview(tree, folder)
    assert whole["summaries"] == {"read": 1, "lacking": [], "unreadable": []} and whole["recordings"][0]["steps"] > steps


def test_recordings_that_have_ended_do_not_end_it(tree, tmp_path, start):
    """Summaries of an earlier run in the same folder, and of an earlier program in the same command."""
    folder = tmp_path / "capture"
    before = subprocess.run([tree / "bin/memoir", "run", "-q", "-o", folder, "--", sys.executable, "-c", "import torch; torch.ones(1)"], cwd=tmp_path)
    assert before.returncode == 0 and not list(folder.glob("*.memoir-summary"))
    start("sh", "-c", f"{sys.executable} -c 'import torch, time; torch.ones(1); time.sleep(2)'; sleep 2; exec {sys.executable} train.py")
    wait_for(lambda: len(list(folder.glob("r00001*.memoir-summary"))) == 2)
    assert len(list(folder.glob("*.memoir-summary"))) == 2, "those of another run are left alone"


def test_killing_memoir_run_ends_the_summaries_and_not_the_program(tree, tmp_path, running):
    folder = tmp_path / "capture"
    wait_for(lambda: processes("summarize", "--own", str(folder)))
    wait_for(lambda: list(folder.glob("*.memoir")))
    running.send_signal(signal.SIGKILL)
    wait_for(lambda: not processes("summarize", "--own", str(folder)))
    program, = processes(sys.executable, "train.py", folder=tmp_path)
    (tmp_path / "enough").touch()
    wait_for(lambda: program not in processes("train.py"))


def test_what_a_killed_rank_left_in_its_ring_is_not_missed(tree, tmp_path, start):
    """Its summary covers exactly these parts."""
    folder = tmp_path / "capture"
    run = start(sys.executable, "train.py")
    wait_for(lambda: steps_of_running(tree, folder))
    run.kill()
    run.wait()
    program, = processes(sys.executable, "train.py", folder=tmp_path)
    (tmp_path / "stop").touch()
    wait_for(lambda: pathlib.Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    assert subprocess.run([tree / "bin/memoir", "summarize", "--own", folder], capture_output=True).returncode == 0
    alive = overview(tree, folder)["events"]
    os.kill(program, signal.SIGKILL)
    wait_for(lambda: overview(tree, folder)["events"] > alive)
    done = subprocess.run([tree / "bin/memoir", "summarize", "--own", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown = json.loads(subprocess.run([tree / "bin/memoir", "show", "--json", folder], capture_output=True, text=True).stdout)
    assert overview(tree, folder)["events"] == shown["events"]


def test_no_summaries_of_what_is_only_printed(tree, tmp_path):
    done = subprocess.run([tree / "bin/memoir", "run", "--print-env", "--summary-every", "5"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "summarize --every" in done.stderr
