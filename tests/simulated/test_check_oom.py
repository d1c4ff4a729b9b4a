"""Out-of-memory errors that are made on purpose, each of another cause: memoir check oom names who asked, who held the bytes, why it failed and what had grown."""

import json
import subprocess
import sys

import pytest

# Every step except the first ones is a separate case, and cleans up after itself.
PROGRAM = '''
import gc, sys, torch, memoir
from torch import nn
MIB = 1 << 20
def take(mib): return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
class Keeps(nn.Module):
    def forward(self, mib, times=1):
        kept.extend(torch.zeros(mib * MIB, dtype=torch.uint8, device="cuda") for _ in range(times))
class Asks(nn.Module):
    def forward(self, mib): return take(mib)
class Case(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.hoard, self.victim, self.body = Keeps(), Asks(), body
    def forward(self, *arguments): return self.body(self, *arguments)

def left(): return torch.cuda.mem_get_info()[0] // MIB
def growing(case):  # 600 MiB more each step
    case.hoard(600)
    case.victim(500)
def limit(case):
    torch.cuda.set_per_process_memory_fraction(0.25)
    case.hoard(600)
    case.victim(500)
def fragments(case):  # one large segment, in which every 100 MiB two are pinned
    del [take(left() - 40)][0]
    between = []
    while torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > 110 * MIB:
        between.append(take(100))
        case.hoard(2)
    between.clear()
    case.victim(500)
def graph(case):  # what a graph's pool has free is for that graph alone
    with torch.cuda.graph(graphs[-1]):
        case.hoard(64)
        del [take(2500)][0]
    case.victim(1500)
def capturing(case):  # in the graph's own pool
    with torch.cuda.graph(graphs[-1]):
        case.hoard(3000)
        case.victim(1000)
def pool(case):
    pools.append(torch.cuda.MemPool())
    with torch.cuda.use_mem_pool(pools[-1]):
        case.hoard(1000)
        del [take(1500)][0]
    case.victim(1600)
def alone(case): case.victim(100 << 10)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for body in (growing, limit, fragments, graph, capturing, pool, alone): setattr(self, body.__name__, Case(body))
    def forward(self, name): getattr(self, name)()
net, kept, pools, graphs = Net(), [], [], []
torch.cuda.init()
for step, name in enumerate(["growing"] * 12 + ["limit", "fragments", "graph", "capturing", "pool", "alone"]):
    memoir.step(step)
    failed = False
    graphs.append(torch.cuda.CUDAGraph())
    try:
        net(name)
    except RuntimeError:
        failed = True
    if failed or name != "growing":
        kept.clear(), pools.clear(), graphs.clear(), gc.collect()
        torch.cuda.set_per_process_memory_fraction(1.0)
        torch.cuda.empty_cache()
    if name == "growing" and failed: print("failed", step, flush=True)
'''
MIB = 1 << 20


def memoir(tree, *arguments):
    return subprocess.run([tree / "bin/memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def record(tree, folder, *command, memory="4GiB", devices=1):
    run = ["run", "-o", folder / "capture", "--simulate", "l4", "--sim-memory", memory, "--sim-devices", devices, "--", sys.executable]
    return memoir(tree, *run, *command), folder / "capture"


@pytest.fixture(scope="module")
def ran(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    (folder / "program.py").write_text(PROGRAM)
    done, capture = record(tree, folder, folder / "program.py")
    assert done.returncode == 0, done.stderr[-3000:]
    checked = memoir(tree, "check", "oom", "--json", capture)
    assert checked.returncode == 3, checked.stderr
    return done, capture, json.loads(checked.stdout)


@pytest.fixture(scope="module")
def errors(ran):
    """By the case that failed."""
    found = {error["module"].split(".")[0]: error for error in ran[2]["out_of_memory"]}
    assert len(ran[2]["out_of_memory"]) == len(found) + 1, "growing fails twice, all others once"
    return found


def held(error, module):
    return sum(holder["bytes"] for holder in error["by_module"] if holder["name"] == module)


CAUSES = {"growing": "full", "limit": "limit", "fragments": "fragmentation", "graph": "other_pools", "capturing": "full", "pool": "other_pools", "alone": "too_large"}


@pytest.mark.parametrize("case", CAUSES)
def test_each_error_names_victim_and_cause(errors, case):
    error = errors[case]
    assert (error["operator"], error["module"], error["class"], error["phase"]) == ("aten::empty.memory_format", f"{case}.victim", "Asks", "forward")
    assert error["cause"] == CAUSES[case], error


@pytest.mark.parametrize("case, mib", [("growing", 2400), ("limit", 600), ("fragments", 40), ("graph", 64), ("capturing", 3000), ("pool", 1000)])
def test_each_error_names_the_hoarder(errors, case, mib):
    error = errors[case]
    assert held(error, f"{case}.hoard") >= mib * MIB and error["by_module"][0]["name"] == f"{case}.hoard"
    assert sum(holder["bytes"] for holder in error["by_module"]) == sum(holder["bytes"] for holder in error["by_operator"]) == error["allocated_bytes"]


def test_sums_of_what_was_free(errors):
    for error in errors.values():
        free = error["free"]
        parts = free["usable_bytes"] + free["other_pool_bytes"] + free["other_stream_bytes"] + free["other_size_bytes"]
        assert parts == free["bytes"] == error["reserved_bytes"] - error["active_bytes"], error
        assert free["largest_hole_bytes"] < error["asked_bytes"]


def test_fragmentation_has_its_holes_and_what_pins_them(errors):
    error = errors["fragments"]
    assert error["free"]["usable_bytes"] >= error["asked_bytes"] == 500 * MIB
    assert 100 * MIB <= error["free"]["largest_hole_bytes"] < 500 * MIB and error["free"]["usable_holes"] >= 5
    pin = error["pinned_by"][0]
    assert pin["name"] == "aten::zeros in fragments.hoard" and pin["bytes"] == pin["blocks"] * 2 * MIB == held(error, "fragments.hoard")


def test_pools(errors):
    assert errors["graph"]["pool"] == errors["pool"]["pool"] == [0, 0] and errors["capturing"]["pool"] != [0, 0]
    assert errors["graph"]["private_pools_reserved_bytes"] >= 2564 * MIB and errors["graph"]["free"]["other_pool_bytes"] >= 2500 * MIB
    assert errors["pool"]["private_pools_allocated_bytes"] == 1000 * MIB and errors["pool"]["free"]["other_pool_bytes"] >= 1500 * MIB
    assert errors["capturing"]["private_pools_allocated_bytes"] >= 3000 * MIB


def test_why_now(ran):
    first, second = [error for error in ran[2]["out_of_memory"] if error["module"].startswith("growing")]
    growth = first["growth"]
    assert (growth["since"], growth["same_call"], growth["step"]) == ("step", True, first["step"] - 1)
    assert growth["allocated_bytes"] == 600 * MIB and growth["asked_bytes_then"] == first["asked_bytes"] == 500 * MIB
    assert growth["by_module"][0] == {"name": "growing.hoard", "bytes": 600 * MIB} and growth["by_operator"][0]["name"] == "aten::zeros"
    assert second["step"] > first["step"]


def test_a_step_that_never_came_here(errors):
    growth = errors["limit"]["growth"]
    assert growth["same_call"] is False and growth["by_module"][0] == {"name": "limit.hoard", "bytes": 600 * MIB}


def test_the_run_says_it_in_one_message(ran):
    lines = [line.removeprefix("memoir: ") for line in ran[0].stderr.splitlines() if line.startswith("memoir:")]
    begins = [i for i, line in enumerate(lines) if line.startswith("out of memory")]
    ends = next(i for i, line in enumerate(lines) if line.startswith("errors ") and " check oom " in line)
    assert len(begins) == 1 and 5 <= ends - begins[0] <= 12, lines
    message = " ".join(" ".join(lines[begins[0] : ends]).split())
    assert "aten::empty.memory_format in alone.victim (Asks), forward, step 17 asked for 100.0 GiB; the last of 8" in message, message
    assert "TOO LARGE" in message


def test_text_has_every_error(tree, ran):
    done = memoir(tree, "check", "oom", ran[1])
    text = " ".join(done.stdout.split())
    assert done.returncode == 3 and text.count("out of memory") == 8
    for cause in ("FRAGMENTATION", "LIMIT", "free, but ELSEWHERE", "TOO LARGE", "FULL"):
        assert cause in text, text
    assert "aten::zeros in fragments.hoard" in text and "since the same call of step" in text
    assert "what helps PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" in text
    assert "what helps a larger fraction in torch.cuda.set_per_process_memory_fraction" in text


RANKS = '''
import os, subprocess, sys
if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": "2"}) for r in range(2)]
    sys.exit(max(rank.wait() for rank in ranks))
import torch
from torch import nn
rank = int(os.environ["RANK"])
class Victim(nn.Linear): pass
class Hoard(nn.Linear): pass
with torch.device(f"cuda:{rank}"): net = nn.Sequential(Victim(1024, 256 << 10, bias=False), Hoard(256 << 10, 1024, bias=False))
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for batch in (16, 16, 400 if rank else 16):
    net(torch.zeros(batch, 1024, device=f"cuda:{rank}")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
'''


@pytest.fixture(scope="module")
def ranks(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "program.py").write_text(RANKS)
    return record(tree, folder, folder / "program.py", memory="7GiB", devices=2)


def test_one_rank_of_two(tree, ranks):
    done, capture = ranks
    assert done.returncode != 0 and "torch.OutOfMemoryError" in done.stderr
    said = " ".join(" ".join(line.removeprefix("memoir: ") for line in done.stderr.splitlines() if line.startswith("memoir:")).split())
    assert said.count("out of memory ") == 1 and "rank 1 cuda:1 at" in said and "after 2 optimizer steps" in said, said
    checked = memoir(tree, "check", "oom", "--json", capture)
    report = json.loads(checked.stdout)
    (error,) = report["out_of_memory"]
    assert checked.returncode == 3 and (error["rank"], error["device"], error["optimizer_steps"]) == (1, "cuda:1", 2)
    # No memoir.step(): the optimizer's steps are the program's.
    assert error["growth"]["since"] == "optimizer step" and error["growth"]["same_call"]
    # The gradient of the first weight has the same size; its output's gradient grew with the batch.
    assert (error["class"], error["phase"]) == ("Victim", "backward") and error["growth"]["asked_bytes_then"] == error["asked_bytes"] == 1 << 30
    assert error["growth"]["by_module"][0] == {"name": "1", "bytes": (400 - 16) * MIB}


def test_a_rank_without_an_error(tree, ranks):
    done = memoir(tree, "check", "oom", "--rank", 0, ranks[1])
    assert done.returncode == 0 and done.stdout.startswith("rank 0 cuda:0: no out-of-memory error: at most "), done.stdout
    assert done.stdout.count("\n") <= 2


PAUSED = '''
import sys, torch, memoir
def fails():
    try: torch.empty(100 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError: pass
kept = torch.zeros(8 << 20, device="cuda")
memoir.pause()
fails()
fails()
if "resume" in sys.argv: memoir.resume()
kept = torch.zeros(16 << 20, device="cuda")
'''


@pytest.mark.parametrize("goes_on", [True, False])
def test_errors_while_recording_was_off(tree, tmp_path, goes_on):
    (tmp_path / "program.py").write_text(PAUSED)
    done, capture = record(tree, tmp_path, tmp_path / "program.py", *(["resume"] if goes_on else []))
    assert done.returncode == 0, done.stderr[-3000:]
    checked = memoir(tree, "check", "oom", "--fail-if", "num_ooms > 1", capture)
    report = json.loads(memoir(tree, "check", "oom", "--json", "--fail-if", "num_ooms > 1", capture).stdout)
    text = " ".join(checked.stdout.split())
    assert not report["out_of_memory"] and not report["sure"]
    (condition,) = report["fail_if"]
    if goes_on:  # torch counts, and is asked
        assert checked.returncode == 3 and "2 out-of-memory errors counted by torch's allocator, of which no details are recorded: recording was off for" in text, text
        assert report["num_ooms_without_detail"] == 2 and (condition["holds"], condition["sure"]) == (True, True)
        assert "2 out-of-memory errors counted by torch's allocator" in " ".join(done.stderr.replace("memoir:", "").split())
    else:
        assert checked.returncode == 0 and "no out-of-memory error is recorded, but recording was off from" in text and "--fail-if num_ooms > 1: passed, it is 0 in what was recorded" in text, text
        assert (condition["holds"], condition["sure"]) == (False, False) and "recording was off" in condition["why"]


LEAKS = '''
import torch, memoir
from torch import nn
class Hoard(nn.Module):
    def forward(self): kept.append(torch.empty(600 << 20, dtype=torch.uint8, device="cuda"))
class Victim(nn.Module):
    def forward(self): return torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hoard, self.victim = Hoard(), Victim()
    def forward(self):
        self.hoard()
        self.victim()
net, kept = Net(), []
for step in range(10):
    memoir.step(step)
    net()
'''


def test_cuda_malloc_async(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync")
    (tmp_path / "program.py").write_text(LEAKS)
    done, capture = record(tree, tmp_path, tmp_path / "program.py")
    assert "torch.OutOfMemoryError" in done.stderr
    checked = memoir(tree, "check", "oom", "--json", "--fail-if", "unusable>1%", capture)
    assert checked.returncode == 1 and "unusable>1%: not known: it is a figure of torch's caching allocator, which was not in use (cudaMallocAsync" in " ".join(checked.stderr.split())
    report = json.loads(checked.stdout)
    (error,) = report["out_of_memory"]
    held = error["by_module"][0]
    assert held["name"] == "hoard" and held["bytes"] == error["allocated_bytes"] == 3000 * MIB
    assert [holder["name"] for holder in error["outside_torch"]] == ["context"]
    assert error["growth"]["asked_bytes_then"] == error["asked_bytes"] == 900 * MIB and error["growth"]["same_call"]
    text = " ".join(memoir(tree, "check", "oom", capture).stdout.split())
    assert "torch asked for 900.0 MiB" in text and "torch has allocated 2.93 GiB of 4.00 GiB" in text and "that call asked for as much" in text, text


# Sentences of different lengths; the last is too long.
LENGTHS = '''
import sys, torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(4000, 128)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, batch_first=True), 2, enable_nested_tensor=False)
        self.head = nn.Linear(128, 4000)
    def forward(self, words): return self.head(self.blocks(self.words(words)))
net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for length in map(int, sys.argv[1:]):
    words, next_words = (torch.randint(0, 4000, (16, length)).cuda() for _ in range(2))
    nn.functional.cross_entropy(net(words).flatten(0, 1), next_words.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
'''
USUAL = (64, 128, 96, 160, 80, 200, 90, 140, 110, 180, 70)
BYTES = 16 * 8 * 2    # of inputs for each word of a sentence


def test_the_input_that_would_have_fitted(tree, tmp_path):
    """The estimated input fits when it is run, and is not much smaller than one that does not fit."""
    program = tmp_path / "program.py"
    program.write_text(LENGTHS)

    def train(name, last):
        done, capture = record(tree, tmp_path / name, program, *USUAL, last, memory="2GiB")
        return done.returncode == 0, capture

    for name in ("long", "fitting", "above"):
        (tmp_path / name).mkdir()
    fits, capture = train("long", 4000)
    assert not fits
    error, = json.loads(memoir(tree, "check", "oom", "--json", capture).stdout)["out_of_memory"]
    smaller = error["smaller_input"]
    assert smaller["input_bytes"] == 4000 * BYTES and smaller["steps"] == len(USUAL) - 2
    length = smaller["fitting_input_bytes"] // BYTES
    text = " ".join(memoir(tree, "check", "oom", capture).stdout.split())
    assert "a smaller batch: inputs of about" in text and "would fit, these had 1000.0 KiB (an estimate from 9 steps)" in text
    assert max(USUAL) < length < 4000
    assert train("fitting", length)[0]
    assert not train("above", length * 5 // 4)[0]


# A server as they are: weights are loaded and forgotten about, a cache takes what is free, graphs are captured last.
SERVER = '''
import sys, torch
from torch import nn
MIB = 1 << 20
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = nn.Linear(2048, 8192), nn.Linear(8192, 2048), nn.Linear(2048, 1024)
    def forward(self, x): return self.head(self.down(torch.relu(self.up(x))))
torch.save(Model().state_dict(), sys.argv[1])
model = Model().cuda()
state = torch.load(sys.argv[1], map_location="cuda")
model.load_state_dict(state)
with torch.no_grad():
    cache = torch.empty(torch.cuda.mem_get_info()[0] // MIB - 60, MIB, dtype=torch.uint8, device="cuda")
    graphs = []
    for batch in (4, 8, 16, 32, 64, 128, 256):
        x = torch.zeros(batch, 2048, device="cuda")
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]): model(x)
'''


def test_a_full_device_is_not_called_fragmented(tree, tmp_path):
    (tmp_path / "serve.py").write_text(SERVER)
    done, capture = record(tree, tmp_path, tmp_path / "serve.py", tmp_path / "weights.pt")
    assert "torch.OutOfMemoryError" in done.stderr, done.stderr[-2000:]
    error = json.loads(memoir(tree, "check", "oom", "--json", capture).stdout)["out_of_memory"][-1]
    largest = error["by_line"][0]
    assert error["cause"] == "full" and largest["bytes"] > error["allocated_bytes"] // 2, error
    assert SERVER.splitlines()[largest["line"]["line"] - 1].lstrip().startswith("cache = "), largest
    (copy,) = [row for row in error["by_line"] if row["category"] == "parameter (second copy)"]
    assert SERVER.splitlines()[copy["line"]["line"] - 1].startswith("state = ") and copy["blocks"] == 6, copy
    said = " ".join(" ".join(line.removeprefix("memoir: ") for line in done.stderr.splitlines() if line.startswith("memoir:")).split())
    assert "why FULL: serve.py:" in said and "FRAGMENTATION" not in said and "grow with it" not in said, said
    assert "by category " in said and "without a second copy of the parameters, " in said, said
