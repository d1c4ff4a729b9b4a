"""A recording that ends leaves nothing: a process may start and stop any number of them."""

import json
import os

from recording import run_explicit

CYCLES = 10_000 if os.environ.get("MEMOIR_TEST_LONG") == "1" else 60

PROGRAM = """
import ctypes, gc, json, os, sys, threading, time
import torch, memoir

folder, cycles, options = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
libc = ctypes.CDLL(None)

class Blocks(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

libc.mallinfo2.restype = Blocks

def size():
    gc.collect()
    libc.malloc_trim(0)
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    counted = libc.mallinfo2()
    return {"address space": int(status["VmSize"].split()[0]) << 10, "mappings": sum(1 for _ in open("/proc/self/maps")),
            "malloc": counted.uordblks + counted.hblkhd, "objects": len(gc.get_objects()), "queued": len(torch.cuda._queued_calls),
            "files": len(os.listdir("/proc/self/fd"))}

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def tasks():
    return len(os.listdir("/proc/self/task"))

def cycle():
    memoir.start(folder, ring_dir=folder, ring_size="2MiB", quiet=True, **options)
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    memoir.step()
    alone = tasks()
    threads = [threading.Thread(target=torch.add, args=(torch.ones(2), 1)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    # join() returns before the system has removed the thread. A thread that starts before that gets a new stack and a
    # new arena of malloc, and the process keeps both.
    while tasks() > alone: time.sleep(0.001)
    memoir.stop()
    for name in os.listdir(folder):
        if name.endswith(".memoir"): os.remove(os.path.join(folder, name))

for _ in range(20): cycle()
before = size()
for _ in range(cycles): cycle()
after = size()
print(json.dumps({name: after[name] - before[name] for name in before}))
"""


def growth(tree, folder, **options):
    (folder / "capture").mkdir()
    done = run_explicit(tree, folder, PROGRAM, folder / "capture", CYCLES, json.dumps(options))
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout)


def test_starting_and_stopping_leaves_nothing(tree, tmp_path):
    grown = growth(tree, tmp_path)
    # A thread that has been joined may let go of its last objects a moment later, so that fewer are no surprise.
    assert grown == {**dict.fromkeys(grown, 0), "malloc": grown["malloc"], "objects": min(grown["objects"], 0)}, grown
    assert grown["malloc"] < 100_000, grown  # in all: dictionaries and free lists find their sizes
