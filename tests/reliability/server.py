"""Records in a forked child for each case that it reads: a line of JSON from standard input, answered by one.

A case: {"folder"; "record"; "options" of memoir.start(); "before" it, "during" the recording and "after" the program (actions.py); "program" (programs.py) and its
"arguments"; "first": calls of torch.add between the start and "during"; "kill_at": SIGKILL once so many were counted; "end": how the child ends}.
The answer: {"ended": "0", "signal 9", "hung"; "count": calls of torch.add that were done; "problem": what start or stop raised; "right";
"said": lines on standard error}.
"""

import json
import mmap
import os
import signal
import struct
import sys
import sysconfig
import time

import torch

import actions
import memoir
import programs
from _torch_memoir import _library


torch.set_num_threads(1)
w = torch.ones(1, requires_grad=True)
(w * 1).sum().backward()
torch.add(w.detach(), 1)
_library.load(torch.__version__)
sysconfig.get_config_vars()  # another user may not be able to read where Python lies


def act(steps):
    for name, *arguments in steps:
        getattr(actions, name)(*arguments)


def child(case, page, answer):
    os.chdir(case["folder"] + "/here")
    act(case["before"])
    try:
        if case["record"]:
            memoir.start(case["folder"] + "/capture", ring_dir=case["folder"] + "/ring", **case["options"])
    except RuntimeError as problem:
        answer["problem"] = str(problem)
    count = programs.adds(page, 0, case["first"])
    if case["record"] and case["first"] and case["flush"]:
        memoir.flush()
    act(case["during"])
    answer["count"] = getattr(programs, case["program"])(page, count, *case["arguments"])
    answer["right"] = bool(torch.equal(torch.mul(torch.arange(8.0), 2), torch.arange(0, 16, 2.0)))
    act(case["after"])
    put(page, answer)  # some ends give no more facts
    try:
        if case["end"] == "stop":
            memoir.stop()
        elif case["end"] == "exec":
            os.execv("/bin/true", ["true"])
        elif case["end"] != "_exit":
            os.kill(os.getpid(), getattr(signal, case["end"]))
    except RuntimeError as problem:
        answer["problem"] = str(problem)


def put(page, answer):
    text = json.dumps(answer).encode()
    page[8:16 + len(text)] = struct.pack("<q", len(text)) + text


def taken(page):
    length = struct.unpack("<q", page[8:16])[0]
    return {"count": struct.unpack("<q", page[:8])[0], "problem": "", "right": False, **json.loads(page[16:16 + length] or b"{}")}


def wait_for(process, page, kill_at, hangs_after):
    give_up = time.monotonic() + hangs_after
    while (status := os.waitpid(process, os.WNOHANG))[0] == 0:
        hangs = time.monotonic() > give_up
        if hangs or (kill_at is not None and struct.unpack("<q", page[:8])[0] >= kill_at):
            os.killpg(process, signal.SIGKILL) if hangs else os.kill(process, signal.SIGKILL)
            status = os.waitpid(process, 0)
            break
        time.sleep(0.0005)
    code = os.waitstatus_to_exitcode(status[1])
    return "hung" if time.monotonic() > give_up else f"signal {-code}" if code < 0 else str(code)


def run(case):
    page = mmap.mmap(-1, 1 << 16)  # shared with the child, and no descriptor
    said, stderr = os.pipe()
    process = os.fork()
    if process == 0:
        answer, code = {}, 0
        os.setpgid(0, 0)
        os.dup2(stderr, 2)
        os.closerange(3, 100)
        try:
            child(case, page, answer)
        except BaseException as problem:
            answer["raised"], code = repr(problem)[:1000], 1
        put(page, answer)
        os._exit(code)
    os.close(stderr)
    answer = {"ended": wait_for(process, page, case["kill_at"], case["hangs_after"]), **taken(page)}
    os.set_blocking(said, False)  # what the child started may live on
    try:
        answer["said"] = os.read(said, 1 << 16).decode(errors="replace").splitlines()
    except BlockingIOError:
        answer["said"] = []
    os.close(said)
    return answer


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
