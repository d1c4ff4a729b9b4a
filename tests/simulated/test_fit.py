"""memoir fit with real torch programs: what it says is what torch itself says in the same program."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from simulation import simulate

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/llama_like.py"
SMALL = ["--width", "512", "--layers", "4", "--length", "512", "--steps", "1"]
MIB = 1 << 20

# Says of itself what torch knows, then dies without any goodbye.
TELLS = '''
import json, os, sys, torch
for n in (100, 700, 300):
    x = torch.zeros(n << 20, dtype=torch.uint8, device="cuda")
    y = torch.zeros(n << 20, dtype=torch.uint8, device="cuda")
    del x, y
    torch.cuda.empty_cache()
free, total = torch.cuda.mem_get_info()
print(json.dumps({"total": total, "reserved": torch.cuda.max_memory_reserved(), "allocated": torch.cuda.max_memory_allocated()}), flush=True)
os.kill(os.getpid(), int(sys.argv[1])) if int(sys.argv[1]) else os._exit(0)
'''


def fit(tree, *arguments, cwd=None):
    return subprocess.run([tree / "bin" / "memoir", "fit", *map(str, arguments)], capture_output=True, text=True, timeout=500, cwd=cwd)


@pytest.mark.parametrize("signal", [0, 9], ids=["os._exit", "SIGKILL"])
def test_figures_are_torchs_own_whatever_ends_the_program(tree, tmp_path, signal):
    (tmp_path / "tells.py").write_text(TELLS)
    done = fit(tree, "--json", "--gpu", "l4", "--", sys.executable, tmp_path / "tells.py", signal)
    assert done.returncode == (128 + 9 if signal else 0), done.stderr
    told = json.loads(next(line for line in done.stderr.splitlines() if line.startswith("{")))
    card, = json.loads(done.stdout)["cards"]
    device = card["runs"][0]["processes"][0]["devices"][0]
    assert (card["memory_bytes"], device["peak"]["cuda_malloc_bytes"]) == (told["total"], told["reserved"])
    assert told["reserved"] == 1400 * MIB and device["context_bytes"] == 260 * MIB
    assert card["verdict"] == ("failed" if signal else "fits")
    recording = card["runs"][0]["recording"]
    assert (recording["peak_allocated_bytes"], recording["peak_reserved_bytes"]) == (told["allocated"], told["reserved"])
    assert [sum(row["bytes"] for row in rows) for rows in recording["at_peak"].values()] == 3 * [told["allocated"]], recording


def test_a_model_that_does_not_fit(tree):
    done = fit(tree, "--gpu", "t4", "--mem", "1500MiB", "--", sys.executable, EXAMPLE, *SMALL, "--batch", 16)
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr
    text = " ".join(done.stderr.replace("memoir: ", "").split())
    assert "does not fit: takes" in text and "GiB more than the card's 1.46 GiB" in text and "It runs out of memory in aten::" in text
    assert "in a run without the card's limit" in text and "blocks.*" in text and "forward" in text


def test_largest_batch(tree, tmp_path):
    """Each value tried alone must give the same answer as the search."""
    command = ["--", sys.executable, EXAMPLE, *SMALL, "--batch", "{BATCH}"]
    done = fit(tree, "--json", "--gpu", "t4", "--mem", "1500MiB", "--vary", "BATCH=2:8:2", *command, cwd=tmp_path)
    report = json.loads(done.stdout)
    points = {point["value"]: point for point in report["points"]}
    assert done.returncode == 0 and list(points) == [2, 4, 6, 8]
    fitting = [value for value, point in points.items() if point["verdict"] in ("fits", "fits_barely")]
    assert report["largest_that_fits"] == max(fitting) < 8 and points[8]["verdict"] == "does_not_fit", report
    needs = [points[value]["need"]["high_bytes"] for value in points]
    assert needs == sorted(needs) and needs[0] < report["memory_bytes"] < needs[-1]


ONE_RANK = '''
import os, torch
import torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1024, 1024).cuda())
model(torch.randn(8, 1024, device="cuda")).sum().backward()
'''


def test_one_rank_of_a_world_is_charged_what_nccl_takes(tree):
    done = fit(tree, "--json", "--gpu", "h100", "--rank", 5, "--world", 16, "--", sys.executable, "-c", ONE_RANK)
    assert done.returncode == 0, done.stderr
    device, = json.loads(done.stdout)["cards"][0]["runs"][0]["processes"][0]["devices"]
    assert device["device"] == "cuda:5" and device["peak"]["libraries_bytes"] == (490 + 2 * 66) * MIB, "NCCL, and a handle of cuBLAS on each of two threads"


ROUTES = '''
import os, torch
chosen = (torch.randn(1 << 20, device="cuda") > 0).nonzero()
y = torch.randn(chosen.numel(), 256, device="cuda")
if y.sum().item() == 0:     # a decision by values of nobody
    os._exit(0)             # which leaves no time to say anything
'''


def test_a_shape_that_depends_on_values_gives_an_interval(tree):
    card, = json.loads(fit(tree, "--json", "--gpu", "l4", "--", sys.executable, "-c", ROUTES).stdout)["cards"]
    assert card["verdict"] == "fits" and card["unknowns"] == ["values that were not computed, in aten::nonzero"]
    assert card["need"]["high_bytes"] - card["need"]["low_bytes"] >= 1024 * MIB, card["need"]
    assert [run["read_unknown_numbers"] for run in card["runs"]] == [False, True]   # the sum of nothing is known


STREAMS = '''
import torch
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
for layer in range(24):
    with torch.cuda.stream(side):
        gathered = torch.empty(16 << 20, dtype=torch.uint8, device="cuda").fill_(1)
    main.wait_stream(side)
    gathered.add_(1)
    gathered.record_stream(main)
    del gathered
'''


def test_what_streams_hold_back_gives_an_interval(tree):
    card, = json.loads(fit(tree, "--json", "--gpu", "l4", "--", sys.executable, "-c", STREAMS).stdout)["cards"]
    assert card["verdict"] == "fits" and card["unknowns"] == ["how far the GPU lags behind, as blocks are used on several streams"]
    assert card["need"]["high_bytes"] - card["need"]["low_bytes"] >= 20 * 16 * MIB, card["need"]


# Programs whose `takes` is put to the test: argument 1 names one.
PROGRAMS = '''
import sys, torch
from torch import nn
def train():
    """Its cache grows and is cut: less memory than it takes where it may is enough."""
    layers = [nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0) for _ in range(4)]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for length in (128, 192, 256):
        model(torch.randn(16, length, 512, device="cuda")).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
def keeps():
    """Nothing is given back: not a byte less will do."""
    kept = [torch.zeros(n << 20, dtype=torch.uint8, device="cuda") for n in (300, 200, 500)]
def graph():
    """A pool of its own, for good."""
    x = torch.zeros(1024, 1024, device="cuda")
    layer = nn.Linear(1024, 1024).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        for _ in range(20): x = layer(x) @ x
    kept = [torch.zeros(64 << 20, dtype=torch.uint8, device="cuda") for _ in range(8)]
    graph.replay()
globals()[sys.argv[1]]()
'''


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("program, card", [("train", "h100"), ("keeps", "t4"), ("graph", "l4")])
def test_a_card_with_what_it_takes_is_enough_and_one_without_torchs_own_peak_is_not(tree, program, card):
    """`takes` against the program itself, on cards of nearly that size, without any of fit's help."""
    found, = json.loads(fit(tree, "--json", "--gpu", card, "--", sys.executable, "-c", PROGRAMS, program).stdout)["cards"]
    run, = found["runs"]
    takes, context = found["need"]["high_bytes"], run["processes"][0]["devices"][0]["context_bytes"]
    assert found["verdict"] == "fits" and found["need"]["low_bytes"] == takes > 256 * MIB
    enough = simulate(tree, PROGRAMS, program, MEMOIR_SIM_GPU=card, MEMOIR_SIM_MEMORY=takes)
    assert enough.returncode == 0, enough.stderr[-2000:]
    # Tensors that are live together are needed on any card; if a program keeps everything, all of them.
    least = takes if program == "keeps" else context + run["recording"]["peak_allocated_bytes"]
    scarce = simulate(tree, PROGRAMS, program, MEMOIR_SIM_GPU=card, MEMOIR_SIM_MEMORY=least - 2 * MIB)
    assert scarce.returncode == 1 and "OutOfMemoryError" in scarce.stderr, scarce


def test_verdict_flips_with_the_cards_memory(tree, tmp_path):
    """1000 MiB and T4's context of 145; --mem takes no less than 1 GiB."""
    command = ["--", sys.executable, "-c", PROGRAMS, "keeps"]
    verdicts = {}
    for memory in (1144, 1145):
        done = fit(tree, "--json", "--gpu", "t4", "--mem", f"{memory}MiB", "-o", tmp_path / str(memory), *command)
        card, = json.loads(done.stdout)["cards"]
        verdicts[memory] = card["verdict"], done.returncode, card["need"]["high_bytes"] // MIB
    assert verdicts == {1144: ("does_not_fit", 1, 1145), 1145: ("fits_barely", 0, 1145)}
    # A capture kept by -o names its origin.
    for view in (["show"], ["show", "--json"], ["export", "events"]):
        done = subprocess.run([tree / "bin/memoir", *view, tmp_path / "1144"], capture_output=True, text=True, timeout=100)
        assert done.returncode == 0 and "Tesla T4 (t4) with 1.12 GiB" in " ".join(done.stdout.split()), done


SHARES = '''
import subprocess, sys, torch
x = torch.zeros(600 << 20, dtype=torch.uint8, device="cuda")
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "again"], check=True)
'''


def test_processes_that_share_a_card_may_not_fit_together(tree, tmp_path):
    (tmp_path / "shares.py").write_text(SHARES)
    done = fit(tree, "--gpu", "t4", "--mem", "1GiB", "--", sys.executable, tmp_path / "shares.py")
    text = " ".join(done.stderr.replace("memoir: ", "").split())
    assert "depends: takes 745.0 MiB to 1.46 GiB, the card has 1.00 GiB" in text and "Several processes used one card" in text, done


# Bad input


def test_more_devices_than_are_simulated(tree):
    done = fit(tree, "--gpu", "t4", "--", sys.executable, "-c", "import torch; torch.zeros(1, device='cuda:2')")
    assert done.returncode == 1 and "device 2 was asked for, but 1 is simulated" in done.stderr and "fit --devices" in done.stderr


def test_torch_without_cuda_is_said_once(tree, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("from .version import __version__\nraise SystemExit('no GPU here')\n")
    (tmp_path / "torch/version.py").write_text("__version__ = '2.11.0+cpu'\ncuda = None\n")
    done = subprocess.run([tree / "bin/memoir", "fit", "--", sys.executable, "-c", "import torch"], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    lines = [line for line in done.stderr.splitlines() if "built without CUDA" in line]
    assert done.returncode == 1 and len(lines) == 1 and "failed: exit code 1, before it used the GPU" in " ".join(done.stderr.replace("memoir: ", "").split()), done
