"""memoir fit with real torch programs: what it says is what torch itself says in the same program."""

import json
import pathlib
import subprocess
import sys

import pytest

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
print(json.dumps({"total": total, "reserved": torch.cuda.max_memory_reserved()}), flush=True)
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


def test_a_model_that_does_not_fit(tree):
    done = fit(tree, "--gpu", "t4", "--mem", "1500MiB", "--", sys.executable, EXAMPLE, *SMALL, "--batch", 16)
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr
    text = " ".join(done.stderr.replace("memoir: ", "").split())
    assert "does not fit: takes" in text and "GiB, has 1.5 GiB" in text and "It ran out" in text
    assert "in a run without the card's limit" in text


def test_largest_batch(tree, tmp_path):
    """Each of the values by itself must say the same as the search."""
    command = ["--", sys.executable, EXAMPLE, *SMALL, "--batch", "{BATCH}"]
    done = fit(tree, "--json", "--gpu", "t4", "--mem", "1500MiB", "--vary", "BATCH=2:8:2", *command, cwd=tmp_path)
    report = json.loads(done.stdout)
    points = {point["value"]: point for point in report["points"]}
    assert done.returncode == 0 and list(points) == [2, 4, 6, 8]
    fitting = [value for value, point in points.items() if point["verdict"] == "fits"]
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
    assert device["device"] == "cuda:5" and device["peak"]["libraries_bytes"] == 490 * MIB, device


ROUTES = '''
import torch
chosen = (torch.randn(1 << 20, device="cuda") > 0).nonzero()
y = torch.randn(chosen.numel(), 256, device="cuda")
'''


def test_a_shape_that_depends_on_values_gives_an_interval(tree):
    card, = json.loads(fit(tree, "--json", "--gpu", "l4", "--", sys.executable, "-c", ROUTES).stdout)["cards"]
    assert card["verdict"] == "fits" and card["unknowns"] == ["values that were not computed, in aten::nonzero"]
    assert card["need"]["high_bytes"] - card["need"]["low_bytes"] >= 1024 * MIB, card["need"]
