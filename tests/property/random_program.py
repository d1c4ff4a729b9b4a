"""A random torch program under a counting allocator: random_program.py SEED THREADS BOOKS CAPTURE.

Between the marks "begin" and "end" every allocation is in the books.
"""

import ctypes
import os
import random
import sys
import threading

import torch

import memoir

seed, threads, books, capture = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
torch.set_num_threads(1)
counting = ctypes.CDLL(os.environ["COUNTING_ALLOCATOR"])
counting.counting_install()
memoir.start(capture)


def unary(rng, t):
    return rng.choice([torch.sin, torch.relu, torch.clone, lambda x: x * 2, lambda x: x.t().contiguous(), lambda x: x[::2].contiguous()])(t)


def train(rng, width):
    layer = torch.nn.Linear(width, width)
    optimizer = rng.choice([torch.optim.SGD, torch.optim.AdamW])(layer.parameters(), lr=0.01)
    for _ in range(rng.randint(1, 3)):
        optimizer.zero_grad()
        layer(torch.randn(rng.randint(1, 8), width)).pow(2).mean().backward()
        optimizer.step()
    return next(layer.parameters()).detach().clone()


def program(seed):
    rng = random.Random(seed)
    live = []
    for _ in range(rng.randint(50, 300)):
        action = rng.random()
        if action < 0.45 or not live:
            live.append(torch.randn(rng.randint(1, 64), rng.randint(1, 64)))
        elif action < 0.75:
            live.append(unary(rng, rng.choice(live).reshape(1, -1)))
        elif action < 0.80:
            live.append(train(rng, rng.randint(1, 32)))
        elif action < 0.84:
            with torch.profiler.record_function(f"phase {rng.randint(0, 3)}"):
                live.append(torch.cat([t.reshape(-1) for t in rng.sample(live, min(3, len(live)))]))
        elif action < 0.87:
            rng.choice(live).resize_(rng.randint(1, 5000))
        elif action < 0.90:
            shared.append(live[-1])      # freed by another thread, or at the end
        else:
            del live[rng.randrange(len(live)):]


shared = []
memoir.mark("begin")
counting.counting_open()
workers = [threading.Thread(target=program, args=(seed * 100 + i,)) for i in range(threads - 1)]
for worker in workers:
    worker.start()
program(seed * 100 + 99)
for worker in workers:
    worker.join()
memoir.mark("middle")
shared.clear()
memoir.mark("end")
if counting.counting_close(books.encode()) != 0:
    sys.exit("no books")
memoir.stop()
