"""A random program on CUDA devices that keeps torch's own books: random_cuda.py SEED BOOKS [--warm]

After every operation it makes an operator mark its place (a named range with one small allocation) and notes memory_stats() of all devices
at once; the test rebuilds the same numbers from the capture. --warm: CUDA is in use before memoir.start().
"""

import json
import os
import random
import sys
import threading

import torch

MIB = 1 << 20
KEYS = ("allocated_bytes", "active_bytes", "reserved_bytes", "requested_bytes")
seed, books_path, warm = int(sys.argv[1]), sys.argv[2], "--warm" in sys.argv
rng = random.Random(seed)
books, live, graphs, kept = [], [], [], []


def note(what):
    """torch's numbers, after everything so far; an empty range says where that is in the recording."""
    with torch.profiler.record_function(f"books {len(books)}"):
        pass
    row = {"what": what}
    for device in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(device)
        row[f"cuda:{device}"] = {
            **{f"{key}.{pool}": stats[f"{key}.{pool}.current"] for key in KEYS[:3] for pool in ("all", "small_pool", "large_pool")},
            "requested_bytes.all": stats["requested_bytes.all.current"],
            "num_alloc_retries": stats["num_alloc_retries"], "num_ooms": stats["num_ooms"],
        }
    books.append(row)


def anywhere():
    return f"cuda:{rng.randrange(torch.cuda.device_count())}"


def size():
    return rng.choice([1, 512, 4096, MIB, MIB + 1, 3 * MIB, 11 * MIB, 90 * MIB, rng.randrange(1, 40 * MIB)])


def allocate():
    live.append(torch.empty(size(), dtype=torch.uint8, device=anywhere()))


def on_a_stream():
    with torch.cuda.stream(rng.choice(streams)):
        live.append(torch.empty(size(), dtype=torch.uint8, device="cuda:0"))


def free():
    if live:
        live.pop(rng.randrange(len(live)))


def share():
    if live:
        tensor = rng.choice(live)
        if tensor.device.index == 0:
            tensor.record_stream(rng.choice(streams))


def compute():
    if live:
        live.append(rng.choice(live)[:MIB] + 1)


def free_on_a_thread():
    mine = [live.pop(rng.randrange(len(live))) for _ in range(min(3, len(live)))]
    worker = threading.Thread(target=mine.clear)
    worker.start()
    worker.join()


def allocate_on_a_thread():
    found = []
    worker = threading.Thread(target=lambda: found.append(torch.zeros(rng.randrange(1, 4 * MIB), dtype=torch.uint8, device="cuda:0")))
    worker.start()
    worker.join()
    live.extend(found)


def from_a_pool():
    pool = rng.choice(pools)
    with torch.cuda.use_mem_pool(pool):
        live.append(torch.empty(rng.randrange(1, 8 * MIB), dtype=torch.uint8, device="cuda:0"))


def capture_a_graph():
    if len(graphs) > 3:
        graphs.pop(rng.randrange(len(graphs)))
        return
    graph = torch.cuda.CUDAGraph()
    static = torch.ones(rng.randrange(1, MIB), device="cuda:0")
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        result = (static * 2).sum() + static.mean()
    graph.replay()
    graphs.append((graph, static, result))


def fraction():
    torch.cuda.set_per_process_memory_fraction(rng.choice([0.5, 0.8, 1.0]), 0)


def train():
    layer = torch.nn.Linear(rng.randrange(1, 300), 64, device="cuda:0")
    layer(torch.randn(8, layer.in_features, device="cuda:0")).sum().backward()
    kept.append(layer)
    del kept[:-2]


def too_much():
    torch.empty(2 << 30, dtype=torch.uint8, device="cuda:0")


def main():
    expandable = "expandable" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
    operations = [allocate] * 6 + [on_a_stream] * 3 + [free] * 6 + [share] * 2 + [compute] * 2
    operations += [free_on_a_thread, allocate_on_a_thread, fraction, train, too_much, torch.cuda.empty_cache, torch.cuda.synchronize]
    if not expandable:
        operations += [from_a_pool, from_a_pool, capture_a_graph]
    for _ in range(250):
        operation = rng.choice(operations)
        try:
            operation()
        except torch.cuda.OutOfMemoryError:
            del live[len(live) // 2 :]
        note(operation.__name__)


if warm:
    live.extend(torch.empty(n, dtype=torch.uint8, device="cuda:0") for n in (1, MIB, 30 * MIB))
    waiting = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda:0")
    del live[1]
import memoir  # noqa: E402

if not memoir.recording():
    memoir.start(sys.argv[3])
streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
pools = [torch.cuda.MemPool()]
main()
with open(books_path, "w") as file:
    json.dump(books, file)
memoir.stop()
