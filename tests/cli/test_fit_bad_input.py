"""memoir fit with words that mean nothing, programs that fail, too little of the host, and ^C: one clear line each."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from fit_programs import TORCH, FAKE, fake, fit, fit_tree, one_paragraph  # noqa: F401 (fixtures)

@pytest.mark.parametrize("arguments, words", [
    (["--gpu", "h10", "--", "true"], "--gpu: unknown card h10; did you mean h100?; known are h100"),
    (["--mem", "lots", "--", "true"], "--mem lots: expected a size from 1GiB to 4TiB"),
    (["--mem", "1MiB", "--", "true"], "--mem 1MiB: expected a size"),
    ([], "no command to run: memoir fit [OPTIONS] -- COMMAND..."),
    (["--vary", "B=5:1", "--", "x", "{B}"], "--vary B=5:1: expected NAME=A:B"),
    (["--vary", "B=1:2:0", "--", "x", "{B}"], "--vary B=1:2:0: expected NAME=A:B"),
    (["--vary", "1:5", "--", "x"], "--vary 1:5: expected NAME=A:B"),
    (["--vary", "B=1:5", "--", "true"], "COMMAND holds no {B}"),
    (["--vary", "B=1:5", "--gpu", "all", "--", "x", "{B}"], "name it with --gpu"),
    (["--png", "x.png", "--", "true"], "--png draws a curve: add --vary"),
    (["--addresses", "windows", "--", "true"], "--addresses windows: expected linux or wsl"),
    (["--devices", "0", "--", "true"], "--devices: expected a number from 1 to 64"),
    (["--rank", "3", "--", "true"], "--rank=3: of which world? add --world N"),
    (["--rank", "8", "--world", "8", "--", "true"], "--rank=8: a world of 8 has the ranks 0 to 7"),
    (["--rank", "-1", "--world", "8", "--", "true"], "--rank -1: expected a whole number"),
    (["--world", "0", "--", "true"], "--world=0: expected a number of ranks from 1 to 4096"),
    (["--vary", "B=1:5", "--", "x", "{C}"], "COMMAND holds no {B}"),
    (["--", "python", "train.py", "--batch={BATCH}"], "COMMAND holds {BATCH}: which values does it stand for? add --vary BATCH=A:B"),
    (["--world", "5000", "--", "true"], "--world=5000: expected a number of ranks from 1 to 4096"),
    (["--profiles", "/no/such", "--", "true"], "--sim-profiles: cannot read /no/such"),
    (["--gpus", "all", "--", "true"], "unknown option --gpus; did you mean --gpu?"),
])
def test_words_that_mean_nothing(fit, one_line, arguments, words):
    done = fit(*arguments)
    assert done.returncode == 2 and done.stdout == "" and words in one_line(done)


@pytest.mark.parametrize("options", [[], ["--gpu", "all"], ["--vary", "N=1:3"]])
def test_command_that_cannot_be_started(fit, one_line, options):
    done = fit(*options, "--", "no-such-command", *(["{N}"] if "--vary" in options else []))
    assert done.returncode == 127 and "cannot start no-such-command: no such command" in one_line(done)


def test_installation_without_the_device(memoir, one_line):
    done = memoir("fit", "--", "true")
    assert done.returncode == 1 and "this installation lacks" in one_line(done)


def test_program_that_leaves_the_gpu_alone(fit):
    done = fit("--", "true")
    assert done.returncode == 0 and "nothing was allocated on the GPU: does the script choose cuda?" in one_paragraph(done.stderr)


def test_program_that_fails_first(fit):
    done = fit("--", sys.executable, "no-such-script.py")
    assert done.returncode == 2 and "failed: exit code 2, before it used the GPU: no answer" in one_paragraph(done.stderr)


def test_torch_without_cuda(fit, tmp_path, monkeypatch):
    torch = tmp_path / "site/torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text("raise SystemExit(1)")
    (torch / "version.py").write_text("__version__ = '2.11.0+cpu'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    done = fit("--", sys.executable, "-c", "print('on the CPU')")
    assert done.returncode == 0 and "torch 2.11.0+cpu" in done.stderr and "is built without CUDA" in done.stderr


def test_killed_program(fit):
    done = fit("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 137 and "signal 9 ended it" in one_paragraph(done.stderr)


def limited(fit_tree, tmp_path, gibibytes, *arguments):
    """memoir fit below `ulimit -v`."""
    (tmp_path / "fake.py").write_text(FAKE)
    command = ["sh", "-c", f'ulimit -v {gibibytes << 20}; exec "$0" fit "$@"', fit_tree / "bin/memoir", *arguments]
    return subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def test_too_few_addresses(fit_tree, tmp_path, one_line):
    done = limited(fit_tree, tmp_path, 20, "--gpu", "h100", *fake("8000"))
    assert done.returncode == 1 and one_line(done).startswith("memoir: ulimit -v allows 20.0 GiB of addresses, fewer than 1 simulated h100 takes (79.1 GiB")
    done = limited(fit_tree, tmp_path, 20, "--gpu", "t4", "--devices", "2", *fake("8000"))
    assert done.returncode == 1 and "fewer than 2 simulated t4" in one_line(done)
    assert limited(fit_tree, tmp_path, 20, "--gpu", "t4", *fake("8000")).returncode == 0


def test_too_few_addresses_for_a_run_without_limit(fit_tree, tmp_path):
    done = limited(fit_tree, tmp_path, 20, "--gpu", "t4", *fake("20000"))
    text = one_paragraph(done.stderr)
    assert done.returncode == 7 and "ulimit -v leaves too few addresses for a run without the card's limit" in text
    assert "does not fit: has 14.6 GiB; what it takes was not tried" in text
    assert "takes 20.0 GiB" in one_paragraph(limited(fit_tree, tmp_path, 200, "--gpu", "t4", *fake("20000")).stderr)


# Says what it takes, then works on for ever, in two ways to meet ^C.
ENDLESS = '''
import os, signal, struct, sys, time
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
words = [14909 << 20, 500 << 20, 8000 << 20, 8000 << 20, 7500 << 20, 0, 0, 0, 0, 0, 0, 1]
with open(f"{os.environ['MEMOIR_SIM_REPORT']}/{os.getpid()}-1.gpu", "wb") as report:
    report.write(b"MEMOIRS1" + struct.pack("<3Q", os.getpid(), len(words), 1) + struct.pack(f"<{len(words)}Q", *words))
open("started", "w").close()
while True:
    time.sleep(0.05)
'''


def interrupt_waits(process):
    pending = re.search(r"^ShdPnd:\s*(\w+)", pathlib.Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return pending is not None and int(pending.group(1), 16) & 1 << (signal.SIGINT - 1) != 0


@pytest.mark.parametrize("how, code", [("ordinary", 130), ("stubborn", 137)])
def test_interrupted_script_says_what_it_took_up_to_then(fit_tree, tmp_path, how, code):
    (tmp_path / "endless.py").write_text(ENDLESS)
    command = [fit_tree / "bin/memoir", "fit", "-q", "--gpu", "t4", "--", sys.executable, "endless.py", how]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    for _ in range(3 if how == "stubborn" else 1):  # each once the one before was taken: two that wait are one
        process.send_signal(signal.SIGINT)
        while interrupt_waits(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (code, "")
    assert err.splitlines()[-1] == ("memoir: endless.py on a SIMULATED Tesla T4 (t4): interrupted: no verdict; up to then it took 7.81 GiB of 14.6 GiB" + TORCH)


@pytest.mark.parametrize("options", [["--gpu", "all"], ["--vary", "N=1:9"]])
def test_interrupt_ends_what_runs(fit_tree, tmp_path, options):
    (tmp_path / "fake.py").write_text(FAKE)
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "STARTED": str(tmp_path / "started")}
    command = [fit_tree / "bin/memoir", "fit", *options, *fake("--sleep", *(["{N}"] if "--vary" in options else []))]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, "", "memoir: interrupted: no answer\n")
    assert not list((tmp_path / "tmp").iterdir())


def test_reports_that_are_none_are_left_out(fit):
    program = ("import os; folder = os.environ['MEMOIR_SIM_REPORT']\n"
               "for name, data in (('a.gpu', b''), ('b.gpu', b'MEMOIRS1' + b'\\xff' * 64), ('c.gpu', b'x' * 5000)):\n"
               "    open(f'{folder}/{name}', 'wb').write(data)")
    done = fit("--", sys.executable, "-c", program)
    assert done.returncode == 0 and "nothing was allocated on the GPU" in one_paragraph(done.stderr)


def test_help_has_two_examples(fit):
    done = fit("--help")
    assert done.returncode == 0 and len([line for line in done.stdout.splitlines() if line.startswith("  memoir fit ")]) == 2
