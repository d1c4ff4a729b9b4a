"""Values with kernels that are not computed: triton's, written by hand and by torch.compile, and replayed CUDA graphs'. Memory that they may have written reads
as zero, never as before."""

import json
import subprocess
import sys

import pytest

from simulation import environment

BY_HAND = '''
import json, torch, triton
import triton.language as tl

@triton.jit
def add_one(x, y, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

x, y, other = torch.arange(4.0, device="cuda"), torch.full((4,), 5.0, device="cuda"), torch.full((4,), 9.0, device="cuda")
before = y.tolist()
add_one[(1,)](x, y, 4, block=16)
after = y.tolist()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    add_one[(1,)](x, y, 4, block=16)
replayed = []
for _ in range(2):
    y.fill_(3)
    graph.replay()
    replayed.append(y.tolist())
print(json.dumps([before, after, replayed, other.tolist()]))
'''

GRAPHS = '''
import json, torch
x, counter, steps, other = (torch.ones(4, device="cuda") for _ in range(4))
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x * 2
    counter.add_(1)
    steps.copy_(x)
found = []
for _ in range(2):
    for tensor in (x, y, counter, steps):
        tensor.fill_(7)
    graph.replay()
    found.append([tensor[0].item() for tensor in (x, y, counter, steps, other)])
print(json.dumps(found))
'''

COMPILED = '''
import json, sys, torch
def step(total, x):
    total.add_((x * 3).sin())
    return (x + total).relu() * 2
found = []
for device in ("cpu", "cuda"):
    total, x, other = torch.ones(4, device=device), torch.arange(4.0, device=device), torch.full((4,), 9.0, device=device)
    run = torch.compile(step, backend=sys.argv[1]) if device == "cuda" else step
    y = run(total, x)
    found.append([[round(v, 3) for v in tensor.tolist()] for tensor in (y, total, other)])
print(json.dumps(found))
'''


@pytest.fixture
def found(tree, tmp_path):
    """found(source, *arguments): what the program prints, as JSON. In a file, as triton looks for its source."""
    caches = {"TRITON_CACHE_DIR": tmp_path / "triton", "TORCHINDUCTOR_CACHE_DIR": tmp_path / "inductor", "TORCHINDUCTOR_COMPILE_THREADS": 1,
              "TRITON_LIBCUDA_PATH": tree / "lib/memoir/simulated"}

    def found(source, *arguments):
        (tmp_path / "program.py").write_text(source)
        done = subprocess.run([sys.executable, tmp_path / "program.py", *arguments], env=environment(tree, **caches), capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return found


def test_a_kernel_of_triton(found):
    before, after, replayed, other = found(BY_HAND)
    assert before == [5] * 4 and after == [0] * 4 and replayed == [[0] * 4] * 2
    assert other == [9] * 4, "a block that it was not handed"


def test_a_replayed_graph(found):
    assert found(GRAPHS) == [[7, 0, 0, 0, 1]] * 2, "what it only reads, and what it does not know, is as it was"


def test_compiled_by_inductor(found):
    (_, _, other), on_gpu = found(COMPILED, "inductor")
    assert on_gpu == [[0] * 4, [0] * 4, other]


def test_compiled_without_kernels_of_its_own(found):
    on_cpu, on_gpu = found(COMPILED, "aot_eager")
    assert on_gpu == on_cpu and any(on_cpu[0])
