"""memoir run passes signals to its command: each arrives once, from any sender."""

import os
import pty
import signal
import subprocess
import sys

import pytest


def started(fake_tree, tmp_path, program, **options):
    running = subprocess.Popen([fake_tree / "bin/memoir", "run", "-q", "--", sys.executable, "-uc", program], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    assert running.stdout.readline() == "ready\n"
    return running


# Counts and prints each signal, until the signal to end. A second one would have been handled by then: signals are passed on in their order.
COUNTER = """
import signal, sys, time
count, done = 0, False
def note(number, frame):
    global count
    count += 1
    print("got", count)
def end(number, frame):
    global done
    done = True
signal.signal({number}, note)
signal.signal(signal.SIGUSR2, end)
print("ready")
while not done: time.sleep(0.01)
print("in all", count)
sys.exit(7)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_signals_are_passed_on(fake_tree, tmp_path, number):
    running = started(fake_tree, tmp_path, COUNTER.format(number=int(number)))
    running.send_signal(number)
    assert running.stdout.readline() == "got 1\n"
    running.send_signal(signal.SIGUSR2)
    out, _ = running.communicate(timeout=300)
    assert out == "in all 1\n" and running.returncode == 7


def test_untouched_program_dies_of_a_passed_signal(fake_tree, tmp_path):
    running = started(fake_tree, tmp_path, "import time; print('ready'); time.sleep(600)")
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=300)
    assert running.returncode == -signal.SIGTERM


def test_ignored_signals_stay_ignored(fake_tree, tmp_path):
    program = "import signal; print('ready'); input(); print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    running = started(fake_tree, tmp_path, program, stdin=subprocess.PIPE,
                      preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running.send_signal(signal.SIGHUP)
    out, _ = running.communicate("\n", timeout=300)
    assert out == "True\n" and running.returncode == 0


def test_interrupt_from_the_terminal_arrives_once(fake_tree, tmp_path):
    program = COUNTER.format(number=int(signal.SIGINT))
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execv(fake_tree / "bin/memoir", ["memoir", "run", "-q", "--", sys.executable, "-uc", program])
    seen = b""

    def until(line):
        nonlocal seen
        while line + b"\r\n" not in seen:
            seen += os.read(terminal, 100)

    until(b"ready")
    os.write(terminal, b"\x03")
    until(b"got 1")
    os.kill(child, signal.SIGUSR2)
    until(b"in all 1")
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7 and b"got 2" not in seen
