"""Calls past torch's allocator that are refused on purpose: memoir check oom names the library that asked, what ran, and who held the bytes."""

import json
import pathlib
import subprocess
import sys

import pytest

MIB = 1 << 20
FOREIGN = pathlib.Path(__file__).with_name("foreign_calls.c")

PROGRAM = '''
import ctypes, os, sys, torch, memoir
from torch import nn
MIB = 1 << 20
foreign = ctypes.CDLL(sys.argv[1])
foreign.raw.argtypes = foreign.pinned.argtypes = [ctypes.c_size_t]
def take(mib): return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
def left(): return torch.cuda.mem_get_info()[0] // MIB
class Hoard(nn.Module):
    def forward(self): kept.extend([take(left() - 20), torch.empty(32 * MIB, dtype=torch.uint8, pin_memory=True)])
class Raw(nn.Module):
    def forward(self):
        assert foreign.raw(37 * MIB) == 2
        ctypes.CDLL(None).cudaGetLastError()
class Pinned(nn.Module):
    def forward(self): torch.empty(100 * MIB, dtype=torch.uint8, pin_memory=True)
class Matrix(nn.Module):
    def forward(self): small @ small
class Reduce(nn.Module):
    def forward(self): torch.distributed.all_reduce(small)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hoard, self.raw, self.pinned, self.matrix, self.reduce = Hoard(), Raw(), Pinned(), Matrix(), Reduce()
    def forward(self, name): getattr(self, name)()
torch.cuda.set_device(0)
torch.distributed.init_process_group("nccl")
net, kept, small = Net(), [], torch.ones(8, 8, device="cuda")
failed = []
for step, name in enumerate(["hoard", "raw", "pinned", "matrix", "reduce"]):
    memoir.step(step)
    try:
        net(name)
    except RuntimeError as error:
        failed.append(name)
assert failed == ["pinned", "matrix", "reduce"], failed
'''


@pytest.fixture(scope="module")
def ran(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "program.py").write_text(PROGRAM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libforeign.so", FOREIGN, "-ldl"], check=True)
    variables = {"MEMOIR_SIM_PINNED": "64MiB", "MEMOIR_SIM_HANDLES": "50MiB"}
    command = [tree / "bin/memoir", "run", "--simulate", "l4", "--sim-memory", "4GiB", "--sim-world", "2", "-o", folder / "capture", "--"]
    command = ["env", *(f"{name}={value}" for name, value in variables.items()), *command, sys.executable, folder / "program.py", folder / "libforeign.so"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done, folder / "capture"


@pytest.fixture(scope="module")
def errors(tree, ran):
    checked = subprocess.run([tree / "bin/memoir", "check", "oom", "--json", ran[1]], capture_output=True, text=True, timeout=120)
    assert checked.returncode == 3, checked.stderr
    return {error["module"]: error for error in json.loads(checked.stdout)["out_of_memory"]}


VICTIMS = {
    "raw": ("malloc", "libforeign.so", 1, 37 * MIB),
    "pinned": ("host_allocate", "libtorch_cuda.so", 2, 128 * MIB),
    "matrix": ("handle", "libcublas", 3, 50 * MIB),    # how much is known of the simulated device alone
    "reduce": ("communicator", "NCCL", 4, 50 * MIB),
}


def test_every_refusal_is_an_error_and_no_other(errors):
    assert set(errors) == set(VICTIMS)


@pytest.mark.parametrize("module", VICTIMS)
def test_each_names_its_victim(errors, module):
    error = errors[module]
    assert (error["kind"], error["library"], error["step"], error["asked_bytes"]) == VICTIMS[module] and error["phase"] == "forward"


@pytest.mark.parametrize("module", VICTIMS)
def test_each_names_the_hoarder(errors, module):
    error = errors[module]
    assert error["by_module"][0]["name"] == "hoard"
    assert error["by_module"][0]["bytes"] == 32 * MIB if module == "pinned" else error["by_module"][0]["bytes"] > 3000 * MIB


def test_the_run_says_it_in_one_message(ran):
    lines = [line.removeprefix("memoir: ") for line in ran[0].stderr.splitlines() if line.startswith("memoir:")]
    begins = [i for i, line in enumerate(lines) if line.startswith("out of memory")]
    ends = next(i for i, line in enumerate(lines) if line.startswith("errors ") and " check oom " in line)
    message = " ".join(" ".join(lines[begins[0] : ends]).split())
    assert len(begins) == 1 and ends - begins[0] <= 12 and "NCCL could not create a communicator" in message and "hoard" in message, message


UNSEEN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
int take(size_t bytes) {
  void* block;
  return ((int (*)(void**, size_t))dlsym(RTLD_DEFAULT, "cudaMalloc"))(&block, bytes);
}
"""


def test_bytes_of_nobody_that_is_known_are_said_and_lead_to_the_balance(tree, tmp_path):
    """Calls through dlsym(RTLD_DEFAULT) are not seen (docs/balance.md); that they took the device is."""
    (tmp_path / "unseen.c").write_text(UNSEEN)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libunseen.so", tmp_path / "unseen.c", "-ldl"], check=True)
    program = """import ctypes, sys, torch
torch.ones(1, device="cuda")
unseen = ctypes.CDLL(sys.argv[1])
unseen.take.argtypes = [ctypes.c_size_t]
assert unseen.take(2 << 30) == 0
try: torch.empty(3 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError: pass
"""
    command = [tree / "bin/memoir", "run", "--simulate", "l4", "--sim-memory", "4GiB", "-o", tmp_path / "capture", "--",
               sys.executable, "-c", program, tmp_path / "libunseen.so"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    checked = subprocess.run([tree / "bin/memoir", "check", "oom", "--json", tmp_path / "capture"], capture_output=True, text=True, timeout=120)
    (error,) = json.loads(checked.stdout)["out_of_memory"]
    assert error["unaccounted_bytes"] == 2 << 30
    said = " ".join(subprocess.run([tree / "bin/memoir", "check", "oom", tmp_path / "capture"], capture_output=True, text=True, timeout=120).stdout.split())
    assert "without a known owner 2.00 GiB" in said and "more: memoir check balance --at oom" in said, said
