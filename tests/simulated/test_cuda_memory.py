"""The CUDA half of tests of memory in the manner of PyTorch's own: allocator_cases.py and stream_and_pool_cases.py, under several allocators.

Nothing here knows of the simulation: with TESTED_ON_GPU=1 the same cases run on a real one (docs/hacking.md, "Tests on a GPU").
"""

import json
import pathlib
import subprocess
import sys

import allocator_cases
import pytest
import stream_and_pool_cases

from simulation import answers, environment

HERE = pathlib.Path(__file__).parent
MODULES = {"allocator": allocator_cases, "stream_and_pool": stream_and_pool_cases}
CONFIGURATIONS = {"": "segments", "expandable_segments:True": "expandable", "roundup_power2_divisions:1,max_split_size_mb:8192": "settings"}
RUNS = [(module, configuration) for module in MODULES for configuration in CONFIGURATIONS if not (module == "stream_and_pool" and "," in configuration)]


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: f"{run[0]}-{CONFIGURATIONS[run[1]]}")
def ran(request, tree):
    """{case: null, or what went wrong}"""
    module, configuration = request.param
    env = environment(tree, MEMOIR_SIM_GPU="a100-40", MEMOIR_SIM_DEVICES=2, PYTORCH_CUDA_ALLOC_CONF=configuration)
    done = subprocess.run([sys.executable, HERE / f"{module}_cases.py"], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return module, configuration, json.loads(done.stdout.splitlines()[-1])


def test_every_case_holds(ran):
    module, configuration, found = ran
    wrong = {name: text for name, text in found.items() if text}
    assert not wrong, "\n".join(f"{name}:\n{text}" for name, text in wrong.items())
    if not configuration:
        assert set(found) == set(MODULES[module].CASES) and len(found) > 15


ASYNC = '''
import json, torch
MIB = 1 << 20
assert torch.cuda.get_allocator_backend() == "cudaMallocAsync"
torch.zeros(1, device="cuda")
free = torch.cuda.mem_get_info()[0]
kept = [torch.empty(64 * MIB, dtype=torch.uint8, device="cuda") for _ in range(4)]
held = torch.cuda.memory_allocated()
del kept[1:]
after = torch.cuda.memory_allocated()
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    other = torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
other.record_stream(torch.cuda.current_stream())
del other
ooms = torch.cuda.memory_stats()["num_ooms"]
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    raised = False
except torch.cuda.OutOfMemoryError:
    raised = True
kept.clear()
torch.cuda.synchronize()
torch.cuda.empty_cache()
print(json.dumps({"held": held // MIB, "after": after // MIB, "raised": raised, "end": torch.cuda.memory_allocated(), "peak": torch.cuda.max_memory_allocated() // MIB,
                  "given back": free - torch.cuda.mem_get_info()[0] <= 32 * MIB}))
'''


def test_cuda_malloc_async(tree):
    found = answers(tree, ASYNC, PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync")
    assert (found["held"], found["after"]) == (256, 64) and found["peak"] >= 256 and found["raised"] and found["end"] <= 512 and found["given back"], found


# The program's own allocator instead of torch's; and for a pool alone.
REPLACES = '''
import ctypes, json, sys, torch
path, whole = sys.argv[1], sys.argv[2] == "whole"
allocator, library = torch.cuda.memory.CUDAPluggableAllocator(path, "my_alloc", "my_free"), ctypes.CDLL(path)
if whole:
    torch.cuda.memory.change_current_allocator(allocator)
    x = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
    found = [library.my_live(), library.my_allocations()]
    del x
    found.append(library.my_live())
else:
    pool = torch.cuda.MemPool(allocator.allocator())
    y = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
    found = [library.my_allocations()]
    with torch.cuda.use_mem_pool(pool):
        x = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
    found.append(library.my_live())
    del x, pool
    torch.cuda.empty_cache()
    found.append(library.my_live())
print(json.dumps(found))
'''


@pytest.mark.parametrize("which, expected", [("whole", [5 << 20, 1, 0]), ("pool", [0, 20 << 20, 0])])
def test_an_allocator_of_ones_own(tree, pluggable, which, expected):
    assert answers(tree, REPLACES, pluggable, which) == expected
