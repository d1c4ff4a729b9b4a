"""Option publish=nvtx-memory on the simulated GPU, with a tool of our own that listens (listener.cc): after every change it has what torch's own snapshot shows."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

# The beginning of each program. `same(instant)` compares; the program's last line is the number of comparisons and the tool's counts.
BEGIN = '''
import ctypes, gc, json, os, random, sys, torch
library = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"])
library.nvtx_listener_state.restype = ctypes.c_char_p
compared = 0
def told():
    return json.loads(library.nvtx_listener_state())
def live():
    heaps, regions = {}, {}
    for segment in torch.cuda.memory_snapshot():
        if segment["total_size"]:
            heaps[segment["address"]] = segment["total_size"]
        for block in segment["blocks"]:
            if block["state"].startswith("active"):
                regions[block["address"]] = block["size"]
    return heaps, regions
def same(instant):
    global compared
    heaps, regions = live()
    published = told()
    assert {begin: size for begin, size, _ in published["heaps"]} == heaps, f"heaps {instant}: {published['heaps']} {heaps}"
    found = {address: size for _, _, inside in published["heaps"] for address, size in inside}
    assert found == regions, f"regions {instant}: {sorted(found.items())} {sorted(regions.items())}"
    compared += 1
def end():
    print(json.dumps({"compared": compared, **told()}))
'''
RANDOM = BEGIN + '''
random.seed(7)
kept, streams = [], [torch.cuda.Stream() for _ in range(2)]
for i in range(400):
    choice = random.random()
    if choice < 0.5:
        kept.append(torch.empty(random.choice([1, 600, 5000, 300_000, 2 << 20, 11 << 20, 45 << 20]), dtype=torch.uint8, device="cuda"))
    elif choice < 0.6:
        with torch.cuda.stream(streams[i % 2]):
            kept.append(torch.ones(random.choice([100, 1 << 20]), device="cuda"))
    elif choice < 0.68 and kept:
        kept[-1].record_stream(streams[0])  # its block waits for that stream
        with torch.cuda.stream(streams[0]):
            kept[-1].add_(1)
        kept.pop()
    elif choice < 0.95 and kept:
        kept.pop(random.randrange(len(kept)))
    elif choice < 0.98:
        torch.cuda.empty_cache()
    else:
        kept.clear()
    same(f"after change {i}")
end()
'''
OUT_OF_MEMORY = BEGIN + '''
kept = [torch.empty(300 << 20, dtype=torch.uint8, device="cuda") for _ in range(2)]
del kept[0]
same("before")
try:
    while True:
        kept.append(torch.empty(200 << 20, dtype=torch.uint8, device="cuda"))
        same("while it fits")
except torch.OutOfMemoryError:
    same("after the error")
kept.clear()
same("after all is free")
torch.cuda.empty_cache()
same("after empty_cache")
end()
'''
GRAPHS = BEGIN + '''
x = torch.ones(1 << 20, device="cuda")
torch.cuda.synchronize()
pool = torch.cuda.graph_pool_handle()
graphs = [torch.cuda.CUDAGraph() for _ in range(2)]
kept = []
for graph in graphs:
    with torch.cuda.graph(graph, pool=pool):
        y = x + 1
        same("in a capture")
        z = y * 2
        del y
        kept.append(z.sum())
    same("after a capture")
for graph in graphs:
    graph.replay()
    same("after a replay")
user = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(user):
    mine = torch.empty(30 << 20, dtype=torch.uint8, device="cuda")
    same("in a pool")
del graph, graphs, kept, z, mine
gc.collect()
torch.cuda.empty_cache()
same("without graphs")
del user
torch.cuda.empty_cache()
same("without the pool")
end()
'''
FOUND = BEGIN + '''
import memoir
kept = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in (600, 5 << 20, 30 << 20)]
stream = torch.cuda.Stream()
assert told() == {"heaps": [], "counts": {}}
memoir.start(sys.argv[1], publish="nvtx-memory")
same("at the start")
kept.append(torch.empty(700, dtype=torch.uint8, device="cuda"))
same("while recording")
before = live()
memoir.pause()
assert live() == before
same("paused, while nothing changes")
kept.append(torch.empty(900, dtype=torch.uint8, device="cuda"))
assert told()["heaps"] == [], "paused"
del kept[0]
memoir.resume()
same("after the resume")
memoir.pause(memory=True)
kept.append(torch.empty(900, dtype=torch.uint8, device="cuda"))
same("while memory alone is recorded")
memoir.resume()
same("after the second resume")
memoir.stop()
same("stopped, while nothing changes")
kept.pop()
assert told()["heaps"] == [], "stopped"
memoir.start(sys.argv[1], publish="none")
kept.append(torch.empty(40 << 20, dtype=torch.uint8, device="cuda"))
assert told()["heaps"] == [], "a recording that does not publish"
memoir.stop()
memoir.start(sys.argv[1], publish="nvtx-memory")
same("in the third recording")
memoir.stop()
memoir.start(sys.argv[1])
assert told()["heaps"] == [], "withdrawn by a recording that does not publish"
end()
'''
FORKS = BEGIN + '''
x = torch.ones(3 << 20, device="cuda")
same("before the fork")
def child():
    counts = told()["counts"]
    global x
    del x                                     # its deleter runs, but no CUDA
    assert told()["counts"] == counts, told()["counts"]
    os._exit(0)
pid = os.fork()
if pid == 0:
    try:
        child()
    except BaseException as error:
        print(error, file=sys.stderr)
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
x = torch.ones(1 << 20, device="cuda")
same("after the fork")
end()
'''
FORKS_BEFORE = BEGIN + '''
def train():
    model = torch.nn.Linear(64, 64).cuda()
    model(torch.ones(8, 64, device="cuda")).sum().backward()  # from here on a forked child is recorded
    same("after a step")
    x = torch.ones(1 << 20, device="cuda")
    same("after more")
if sys.argv[1] == "child":
    pid = os.fork()
    if pid == 0:
        try:
            train()
            sys.stdout.write(f"{compared} in the child\\n")
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            print(error, file=sys.stderr)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
train()
end()
'''
THREADS = BEGIN + '''
import memoir, threading
stop, kept = False, []
def work():
    mine = []
    while not stop:
        mine.append(torch.empty(random.choice([600, 70_000, 3 << 20]), dtype=torch.uint8, device="cuda"))
        if len(mine) > 50:
            mine.pop(0)
    kept.append(mine)
torch.ones(1, device="cuda")
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for i in range(10):
    memoir.start(sys.argv[1], publish="nvtx-memory")
    memoir.pause()
    memoir.resume()
    memoir.stop()
memoir.start(sys.argv[1], publish="nvtx-memory")
stop = True
for thread in threads:
    thread.join()
same("with what threads have left")
end()
'''
TRAINING = '''
import hashlib, sys, torch
torch.manual_seed(3)
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    with torch.cuda.nvtx.range("step of the program"):
        loss = model(torch.ones(8, 16, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
print(hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest(), loss.item())
'''


@pytest.fixture(scope="module")
def listener(tree):
    """listener(name): a library of CMake's."""
    folder = pathlib.Path(os.environ.get("NVTX_LISTENERS") or tree.parent / "tests" / "nvtx_memory")

    def path(name="listener"):
        library = folder / f"nvtx_{name}.so"
        assert library.exists(), f"no {library}: build nvtx_{name}"
        return library

    return path


def environment(**variables):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MEMOIR_", "NVTX_", "PYTORCH_", "LD_PRELOAD"))}
    return {**clean, **{key: str(value) for key, value in variables.items()}}


def run(tree, capture, source, *arguments, options=("-q",), **variables):
    command = [tree / "bin" / "memoir", "run", "-o", capture, "--simulate", "h100", "--publish", "nvtx-memory", *options, "--", sys.executable, "-c", source]
    done = subprocess.run([*command, *map(str, arguments)], env=environment(**variables), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def explicit(tree, source, *arguments, **variables):
    """The same where the program starts its recordings itself."""
    device = {"LD_PRELOAD": tree / "lib/memoir/libmemoir_simcuda.so", "PYTHONPATH": tree / "lib/memoir/python", "MEMOIR_SIM_GPU": "h100", "MEMOIR_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", source, *map(str, arguments)], env=environment(**device, **variables), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def result(done):
    """The program's last line; its own errors are printed before it."""
    found = json.loads(done.stdout.splitlines()[-1])
    assert not [what for what in found["counts"] if what.startswith("wrong")], found["counts"]
    return found


def show(tree, capture, *options):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", *options, capture], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("configuration", ["", "expandable_segments:True", "backend:native,roundup_power2_divisions:4"])
def test_random_programs(tree, listener, tmp_path, configuration):
    variables = {"PYTORCH_CUDA_ALLOC_CONF": configuration} if configuration else {}
    output = tmp_path / "listened.json"
    found = result(run(tree, tmp_path / "capture", RANDOM, NVTX_INJECTION64_PATH=listener(), NVTX_LISTENER_OUTPUT=output, **variables))
    assert found["compared"] == 400 and found["counts"]["batches of regions unregistered"] > 50 and found["counts"]["heaps unregistered"] > 5
    assert not [what for what in json.loads(output.read_text())["counts"] if what.startswith("wrong")], "at the end of the process"
    cuda, = [device for device in show(tree, tmp_path / "capture")["devices"] if device["device"] == "cuda:0"]
    assert cuda["allocations"] >= 100, "it is recorded as ever"


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("configuration", ["", "expandable_segments:True"])
def test_out_of_memory(tree, listener, tmp_path, configuration):
    variables = {"PYTORCH_CUDA_ALLOC_CONF": configuration} if configuration else {}
    found = result(run(tree, tmp_path / "capture", OUT_OF_MEMORY, options=("-q", "--sim-memory", "2GiB"), NVTX_INJECTION64_PATH=listener(), **variables))
    assert found["compared"] >= 6 and found["heaps"] == []


def test_graphs_and_pools(tree, listener, tmp_path):
    assert result(run(tree, tmp_path / "capture", GRAPHS, NVTX_INJECTION64_PATH=listener()))["compared"] >= 9


def test_blocks_that_are_there_and_pauses(tree, listener, tmp_path):
    found = result(explicit(tree, FOUND, tmp_path / "capture", NVTX_INJECTION64_PATH=listener()))
    assert found["compared"] == 8


def test_threads_that_allocate_meanwhile(tree, listener, tmp_path):
    assert result(explicit(tree, THREADS, tmp_path / "capture", NVTX_INJECTION64_PATH=listener()))["compared"] == 1


def test_a_forked_child_publishes_nothing_of_its_parent(tree, listener, tmp_path):
    found = result(run(tree, tmp_path / "capture", FORKS, NVTX_INJECTION64_PATH=listener()))
    assert found["compared"] == 2


def test_a_forked_child_that_is_recorded_publishes(tree, listener, tmp_path):
    done = run(tree, tmp_path / "capture", FORKS_BEFORE, "child", NVTX_INJECTION64_PATH=listener())
    assert "2 in the child" in done.stdout and result(done)["compared"] == 2


# One line says it, and everything is recorded


@pytest.fixture(scope="module")
def alone(tree):
    """The training's output on the simulated GPU without a recording."""
    return explicit(tree, TRAINING).stdout


def lines(done):
    return [line for line in done.stderr.splitlines() if "publish" in line]


def check_recorded(tree, capture):
    cuda, = [device for device in show(tree, capture)["devices"] if device["device"] == "cuda:0"]
    assert cuda["allocations"] > 10


def ranges(tree, capture):
    done = subprocess.run([tree / "bin" / "memoir", "export", "tree", capture], capture_output=True, text=True, timeout=300, check=True)
    return [node["name"] for node in map(json.loads, done.stdout.splitlines()) if node.get("source") == "nvtx"]


def test_results_are_the_same(tree, listener, tmp_path, alone):
    done = run(tree, tmp_path / "capture", TRAINING, options=(), NVTX_INJECTION64_PATH=listener())
    assert (done.stdout, lines(done)) == (alone, [])
    assert hashlib.sha256(done.stdout.encode()).digest() == hashlib.sha256(alone.encode()).digest()


def test_nobody_listens(tree, tmp_path, alone):
    done = run(tree, tmp_path / "capture", TRAINING, options=())
    assert done.stdout == alone
    line, = lines(done)
    assert line.startswith("memoir: publish=nvtx-memory: nothing is published, because no tool has set NVTX_INJECTION64_PATH")
    check_recorded(tree, tmp_path / "capture")
    assert ranges(tree, tmp_path / "capture") == ["step of the program"] * 3, "what is published is none of the program's ranges"


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("name, variables, words", [
    ("deaf_listener", {}, "knows no extension of NVTX"),
    ("listener", {"NVTX_LISTENER_REFUSES": "1"}, "refuses the memory extension of NVTX"),
    ("nothing", {}, "cannot be loaded"),
])
def test_a_tool_without_the_extension(tree, listener, tmp_path, alone, name, variables, words):
    path = listener(name) if name != "nothing" else tmp_path / "nothing.so"
    done = run(tree, tmp_path / "capture", TRAINING, options=(), NVTX_INJECTION64_PATH=path, **variables)
    assert done.stdout == alone
    line, = lines(done)
    assert words in line and str(path) in line
    check_recorded(tree, tmp_path / "capture")


def test_a_cpu_program_of_a_tool_is_not_bothered(tree, listener, tmp_path):
    done = run(tree, tmp_path / "capture", "import torch; torch.ones(3)", options=(), NVTX_INJECTION64_PATH=listener())
    assert lines(done) == []


def test_quiet_says_nothing(tree, tmp_path):
    assert lines(run(tree, tmp_path / "capture", TRAINING)) == []


def test_another_word_is_refused(tree, tmp_path):
    command = [tree / "bin" / "memoir", "run", "-o", tmp_path / "capture", "--publish", "nvtx", "--", "true"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "none or nvtx-memory" in done.stderr
