"""Random programs on CUDA devices that keep torch's own books: random_cuda.py SEEDS OPERATIONS BOOKS CAPTURE [--warm | --restart]

One process, a program for each seed. After every operation it makes an empty named range and notes memory_stats() of all devices at once; the test rebuilds the
same numbers from the capture. --warm: CUDA is in use before memoir.start(). --restart: the first and the last third of each program are recorded, each into a
separate folder; the middle is not.
"""

import gc
import json
import os
import random
import sys
import threading

import torch

MIB = 1 << 20
KEYS = ("allocated_bytes", "active_bytes", "reserved_bytes", "requested_bytes")
seeds, operations_each, books_path, capture = [int(seed) for seed in sys.argv[1].split(",")], int(sys.argv[2]), sys.argv[3], sys.argv[4]
warm, restart = "--warm" in sys.argv, "--restart" in sys.argv
rng = random.Random()
books, live, graphs, kept, pools = [], [], [], [], []
recording = None  # number of the one that runs
caught = {"out_of_memory": 0, "driver_error": 0}
untold = {}  # device: retries that torch counted in calls that an error of the driver ended; they are in its next statistics


def note(what):
    """torch's numbers after everything so far; an empty range marks the instant in the recording."""
    with torch.profiler.record_function(f"books {len(books)}"):
        pass
    row = {"what": what, "recording": recording, "untold": dict(untold)}
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


def another_pool():
    """The old one goes when its last block does."""
    pools[rng.randrange(len(pools))] = torch.cuda.MemPool()


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


def replay():
    if graphs:
        rng.choice(graphs)[0].replay()


def graph_of_blocks(pool):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, pool=pool):
        blocks = [torch.zeros(rng.randrange(1, 6 * MIB), dtype=torch.uint8, device="cuda:0") for _ in range(rng.randrange(1, 4))]
    return graph, blocks


def without_deleter(tensor):
    """The same memory without a deallocation, as cudagraph trees return the outputs of a replay."""
    storage = torch._C._construct_storage_from_data_pointer(tensor.data_ptr(), tensor.device, tensor.untyped_storage().nbytes())
    return torch.empty([0], dtype=tensor.dtype, device=tensor.device).set_(storage, 0, tensor.shape)


def checkpoint_a_pool():
    """As torch/_inductor/cudagraph_trees.py: outputs of a graph have died, others of them and of a second graph have not; the pool goes back to where it was."""
    graph, outputs = graph_of_blocks(torch.cuda.graph_pool_handle())
    state = torch._C._cuda_getCheckpointState(0, graph.pool())
    note("a graph before its checkpoint")
    living = [without_deleter(t) for t in outputs if rng.random() < 0.5]
    dead = {t.data_ptr() for t in outputs} - {t.data_ptr() for t in living}
    outputs.clear()
    other, stale = graph_of_blocks(graph.pool()) if rng.random() < 0.5 else (None, [])
    note("the outputs died")
    torch._C._cuda_setCheckpointPoolState(0, state, [t.untyped_storage()._cdata for t in stale], [t.untyped_storage()._cdata for t in living])
    note("a checkpoint")
    for address in sorted(dead):
        torch._C._cuda_cudaCachingAllocator_raw_delete(address)
    kept.append((graph, other, living))
    del kept[:-2]


def fraction():
    torch.cuda.set_per_process_memory_fraction(rng.choice([0.5, 0.8, 1.0]), 0)


def train():
    layer = torch.nn.Linear(rng.randrange(1, 300), 64, device="cuda:0")
    layer(torch.randn(8, layer.in_features, device="cuda:0")).sum().backward()
    kept.append(layer)
    del kept[:-2]


def too_much():
    torch.empty(rng.choice([1000 * MIB, 2 << 30]), dtype=torch.uint8, device="cuda:0")


def all_that_is_there():
    torch.empty(torch.cuda.mem_get_info(0)[1] - 24 * MIB, dtype=torch.uint8, device="cuda:0")


def retry():
    """The request succeeds once the cache is freed."""
    left = torch.cuda.mem_get_info(1)[0]
    torch.empty(left * 6 // 10, dtype=torch.uint8, device="cuda:1")
    torch.empty(left * 8 // 10, dtype=torch.uint8, device="cuda:1")


def retries():
    return {f"cuda:{i}": torch.cuda.memory_stats(i)["num_alloc_retries"] for i in range(torch.cuda.device_count())}


def step(operations):
    operation = rng.choice(operations)
    before = retries()
    try:
        operation()
    except torch.cuda.OutOfMemoryError:
        caught["out_of_memory"] += 1
        del live[len(live) // 2 :]
    except RuntimeError as error:
        if "CUDA driver error: out of memory" not in str(error):  # of an expandable segment: torch asks for addresses first
            raise
        caught["driver_error"] += 1
        for device, count in retries().items():
            untold[device] = untold.get(device, 0) + count - before[device]
        del live[len(live) // 2 :]
    note(operation.__name__)


def program(seed):
    """Ends as it began: nothing is kept."""
    rng.seed(seed)
    pools[:] = [torch.cuda.MemPool(), torch.cuda.MemPool()]
    operations = [allocate] * 6 + [on_a_stream] * 3 + [free] * 6 + [share] * 2 + [compute] * 2
    operations += [free_on_a_thread, allocate_on_a_thread, fraction, train, too_much, retry, torch.cuda.empty_cache, torch.cuda.synchronize]
    if not expandable:
        operations += [from_a_pool, from_a_pool, another_pool, capture_a_graph, capture_a_graph, replay, checkpoint_a_pool]
    for number in range(operations_each):
        if restart and number in (operations_each // 3, operations_each * 2 // 3):
            switch()
        step(operations)
    step([retry])
    step([all_that_is_there])
    for things in (live, graphs, kept, pools):
        things.clear()
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.set_per_process_memory_fraction(1.0, 0)
    torch.cuda.empty_cache()
    note("the end of a program")


def switch():
    """Off, or on into the next folder."""
    global recording
    if memoir.is_recording():
        memoir.stop()
        recording = None
    else:
        recording = switch.next
        switch.next += 1
        memoir.start(f"{capture}/{recording}")


switch.next = 0
expandable = "expandable" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "") + os.environ.get("PYTORCH_ALLOC_CONF", "")
if warm or restart:
    live.extend(torch.empty(n, dtype=torch.uint8, device="cuda:0") for n in (1, MIB, 30 * MIB))
    waiting = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda:0")
    del live[1]
import memoir  # noqa: E402

if memoir.is_recording():
    recording = 0
else:
    switch()
streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
for each in seeds:
    program(each)
with open(books_path, "w") as file:
    json.dump({"books": books, "caught": caught, "torch": torch.__version__}, file)
if memoir.is_recording():
    memoir.stop()
