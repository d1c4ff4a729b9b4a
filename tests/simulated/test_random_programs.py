"""Random lists of allocations: torch's statistics close at every step, and nothing is left at the end."""

import pathlib

import pytest

from simulation import ON_GPU, answers

PROGRAM = '''
import json, random, sys, torch
sys.path.insert(0, sys.argv[1])
from workloads import check_statistics
random.seed(int(sys.argv[2]))
if int(sys.argv[4]): torch.cuda.set_per_process_memory_fraction(int(sys.argv[4]) / torch.cuda.mem_get_info()[1])
streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
pool, live, ooms, steps = torch.cuda.MemPool(), [], 0, 0
def allocate():
    size = random.choice([1, 512, 4096, 1 << 20, 3 << 20, 11 << 20, 200 << 20, random.randrange(1, 64 << 20)])
    with torch.cuda.stream(random.choice(streams)):
        live.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
def free():
    if live: live.pop(random.randrange(len(live)))
def share():
    if live: random.choice(live).record_stream(random.choice(streams))
def from_pool():
    with torch.cuda.use_mem_pool(pool): live.append(torch.empty(random.randrange(1, 8 << 20), dtype=torch.uint8, device="cuda"))
def compute():
    if live: live.append(random.choice(live)[: 1 << 20] + 1)
operations = [allocate] * 6 + [free] * 5 + [share, compute, torch.cuda.empty_cache, torch.cuda.synchronize] + ([from_pool] if sys.argv[3] == "pool" else [])
for step in range(600):
    try:
        random.choice(operations)()
    except torch.cuda.OutOfMemoryError:
        ooms += 1
        del live[len(live) // 2 :]
    steps += 1
    if step % 7 == 0: check_statistics()
live.clear()
del pool
torch.cuda.synchronize()
torch.cuda.empty_cache()
check_statistics()
stats = torch.cuda.memory_stats()
print(json.dumps({"steps": steps, "ooms": ooms, "allocated": stats["allocated_bytes.all.current"], "reserved": stats["reserved_bytes.all.current"],
                  "counted": stats["num_ooms"], "peak": stats["reserved_bytes.all.peak"]}))
'''


@pytest.mark.parametrize("seed, configuration", [(1, ""), (2, "expandable_segments:True"), (3, "roundup_power2_divisions:4"), (4, "max_split_size_mb:21")])
def test_statistics_close(tree, seed, configuration):
    folder = pathlib.Path(__file__).parent
    found = answers(tree, PROGRAM, folder, seed, "pool" if not configuration else "", 1 << 30 if ON_GPU else 0, MEMOIR_SIM_GPU="l4", MEMOIR_SIM_MEMORY="1GiB",
                    PYTORCH_CUDA_ALLOC_CONF=configuration)
    assert found["steps"] == 600 and found["allocated"] == 0 and found["reserved"] == 0
    assert found["ooms"] == found["counted"] > 0, "the budget is small enough to be met"
    assert found["peak"] <= 1 << 30
