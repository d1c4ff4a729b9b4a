"""Records in a forked child for each case that the parent writes: calls of Memoir's fail there, one by one (failing_calls.c).

Run with failing_calls.so preloaded. Reads a case a line from standard input, {"call", "at", "forever", "errno", "phase", "folder"}, and
answers each with a line: {"ended": "0", "signal 11", "hung"; "calls"; "problems": what start and stop of the first recording returned;
"again": the same of a second one, in which nothing fails; "said", "said_again": lines on standard error; "right"}.
"""

import ctypes
import json
import os
import signal
import sys
import time

import torch

from _torch_memoir import _library

CALLS = ("", "malloc", "new", "mmap", "open", "write", "ftruncate", "fallocate", "pthread_create", "close")
HANGS_AFTER = 300  # s: a machine may be busy, a hang is for ever
OPERATORS = 40

torch.set_num_threads(1)
torch.ones(1).add(1)  # what torch keeps for this thread, and dies without, is there
library = _library.load(torch.__version__)
failing = ctypes.CDLL(None)
failing.failing_calls_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
failing.failing_calls_disarm.restype = ctypes.c_long


def program(first):
    """A little of everything; whether its results are right."""
    x = torch.arange(16.0)
    for i in range(OPERATORS):
        torch.add(x[i % 8:], i)
    right = bool(torch.equal(torch.mul(x, 2), x + x))
    library.memoir_mark(b"halfway")
    library.memoir_step(1)
    library.memoir_pause(1)
    any(library.memoir_resume() == 0 for _ in range(2))  # it is refused where memory runs out, and may be asked again
    w = torch.ones(4, requires_grad=True)
    (w * 3).sum().backward()
    if first:
        torch.cumsum(x, 0), torch.sort(x), torch.cat([x, x])  # seen for the first time
    library.memoir_flush()
    return right and bool(torch.equal(w.grad, torch.full((4,), 3.0)))


def call(function, *arguments):
    message = ctypes.create_string_buffer(1024)
    failed = function(*arguments, message, len(message)) != 0
    return message.value.decode(errors="replace") or "failed without a word" if failed else ""


def recording(folder, ring, phases, first):
    settings = [f"output={folder}", f"ring_dir={ring}", "ring_size=2MiB", "program=sweep"]
    array = (ctypes.c_char_p * (len(settings) + 1))(*map(os.fsencode, settings), None)
    right = []
    steps = {"start": lambda: call(library.memoir_start, array), "record": lambda: right.append(program(first)) or "",
             "stop": lambda: call(library.memoir_stop, 1)}
    problems = [phases(name, step) for name, step in steps.items()]
    return [problem for problem in problems if problem], all(right)


def child(case):
    calls = 0

    def with_failures(name, step):
        nonlocal calls
        if name != case["phase"]:
            return step()
        failing.failing_calls_arm(CALLS.index(case["call"]), case["at"], case["forever"], case["errno"], name == "start")
        problem = step()
        calls = failing.failing_calls_disarm()
        return problem

    folder = case["folder"]
    os.chdir(f"{folder}/here")
    said = os.open(f"{folder}/said", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 2)
    problems, right = recording(f"{folder}/first.memoir", f"{folder}/ring", with_failures, True)
    before = os.fstat(said).st_size
    again, right_again = recording(f"{folder}/second.memoir", f"{folder}/ring", lambda name, step: step(), False)
    text = os.pread(said, 1 << 20, 0)
    return {"calls": calls, "problems": problems, "again": again, "said": text[:before].decode(errors="replace").splitlines(),
            "said_again": text[before:].decode(errors="replace").splitlines(), "right": right and right_again}


def run(case):
    for name in ("here", "ring"):
        os.makedirs(f"{case['folder']}/{name}")
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writer, json.dumps(child(case)).encode())
        except BaseException as problem:
            os.write(writer, json.dumps({"raised": repr(problem)}).encode())
        os._exit(0)
    os.close(writer)
    give_up = time.monotonic() + HANGS_AFTER
    while (status := os.waitpid(process, os.WNOHANG))[0] == 0 and time.monotonic() < give_up:
        time.sleep(0.005)
    if status[0] == 0:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    ended = "hung" if status[0] == 0 else f"signal {os.WTERMSIG(status[1])}" if os.WIFSIGNALED(status[1]) else str(os.WEXITSTATUS(status[1]))
    answer = os.read(reader, 1 << 20)
    os.close(reader)
    return {"ended": ended, **json.loads(answer or "{}")}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
