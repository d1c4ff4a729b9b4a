"""Driver allocations outside torch's caching allocator are in the capture, with the library that called; and so are refusals."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from simulation import simulate

MIB = 1 << 20
FOREIGN = pathlib.Path(__file__).with_name("foreign_calls.c")
CONTEXT = 260 * MIB  # of the L4, in the table of cards
CALLS = '''
import ctypes, sys, torch
kept = torch.zeros(MIB, device="cuda")
foreign = ctypes.CDLL(sys.argv[1])
foreign.raw.argtypes = foreign.pinned.argtypes = foreign.registered.argtypes = [ctypes.c_size_t]
results = [foreign.raw(37 * MIB), foreign.by_name(), foreign.by_entry_point(), foreign.pinned(3 * MIB), foreign.registered(2 * MIB), foreign.stream_ordered(),
           foreign.physical(), foreign.opened()]
block = ctypes.c_void_p()
results.append(ctypes.CDLL(None).cudaMalloc(ctypes.byref(block), ctypes.c_size_t(13 * MIB)))
assert not any(results), results
'''
REFUSED = '''
import ctypes, sys, torch
foreign = ctypes.CDLL(sys.argv[1])
foreign.raw.argtypes = foreign.pinned.argtypes = foreign.registered.argtypes = [ctypes.c_size_t]
torch.zeros(1, device="cuda")
assert [foreign.raw(100 << 30), foreign.pinned(65 * MIB), foreign.registered(65 * MIB), foreign.pinned(60 * MIB)] == [2, 2, 2, 0]
ctypes.CDLL(None).cudaGetLastError()
full = torch.empty(torch.cuda.mem_get_info()[0] - 20 * MIB, dtype=torch.uint8, device="cuda")
try:
    torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")
except RuntimeError as error:
    assert "CUBLAS_STATUS_ALLOC_FAILED" in str(error), error
else:
    raise AssertionError("the handle was had")
'''
RANK = '''
import torch, torch.distributed as dist
torch.cuda.set_device(0)
dist.init_process_group("nccl")
ones = torch.ones(8, device="cuda")
dist.all_reduce(ones)
torch.ones(8, 8, device="cuda") @ torch.ones(8, 8, device="cuda")
dist.destroy_process_group()
'''
RANK_REFUSED = '''
import torch, torch.distributed as dist
torch.cuda.set_device(0)
full = torch.empty(torch.cuda.mem_get_info()[0] - 20 * MIB, dtype=torch.uint8, device="cuda")
dist.init_process_group("nccl")
try:
    dist.all_reduce(torch.ones(8, device="cuda"))
except RuntimeError:
    pass
else:
    raise AssertionError("the communicator was had")
'''


LATE = '''
import ctypes, sys, torch, memoir
before = torch.zeros(MIB, device="cuda")
memoir.start(sys.argv[2])
foreign = ctypes.CDLL(sys.argv[1])
foreign.raw.argtypes = [ctypes.c_size_t]
assert foreign.raw(37 * MIB) == 0 and foreign.by_name() == 0
del before
torch.cuda.empty_cache()
memoir.pause()
assert foreign.raw(3 * MIB) == 0
memoir.resume()
assert foreign.raw(39 * MIB) == 0
memoir.stop()
'''


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    library = tmp_path_factory.mktemp("foreign") / "libforeign.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", FOREIGN, "-o", library, "-ldl"], check=True)
    return library


def events_of(tree, tmp_path, program, *arguments, card="l4", options=(), **variables):
    """The driver's events, in order."""
    command = [tree / "bin/memoir", "run", "-q", "-o", tmp_path / "capture", "--simulate", card, *options, "--", sys.executable, "-c", f"MIB = 1 << 20\n{program}", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr[-3000:]
    return events_in(tree, tmp_path / "capture")


def events_in(tree, capture):
    exported = subprocess.run([tree / "bin/memoir", "export", "events", capture], capture_output=True, text=True, timeout=300)
    assert exported.returncode == 0, exported.stderr
    events = [json.loads(line) for line in exported.stdout.splitlines()]
    return [event for event in events if event.get("event", "").startswith(("driver_", "device_reading"))]


def given(events, library):
    """(call, device, bytes) of that library's allocations, and whether all were freed later."""
    blocks = [e for e in events if e["event"] == "driver_allocate" and e["library"] == library]
    freed = {(e["device"], e["address"]): e["serial"] for e in events if e["event"] == "driver_free"}
    return [(b["call"], b["device"], b["bytes"] / MIB, freed.get((b["device"], b["address"]), 0) > b["serial"]) for b in blocks]


@pytest.fixture(scope="module")
def calls(tree, foreign, tmp_path_factory):
    return events_of(tree, tmp_path_factory.mktemp("calls"), CALLS, foreign)


def test_every_call_has_the_library_that_made_it(calls):
    assert given(calls, "libforeign.so") == [
        ("malloc", "cuda:0", 37, True), ("malloc", "cuda:0", 5, True), ("malloc", "cuda:0", 7, True), ("host_allocate", "cpu", 3, True),
        ("host_register", "cpu", 2, True), ("malloc_async", "cuda:0", 9, True), ("memory_create", "cuda:0", 4, True), ("malloc", "cuda:0", 1, True),
        ("ipc_open", "cuda:0", 12, True)]


def test_torch_and_the_caller_of_ctypes(calls):
    assert given(calls, "libc10_cuda.so") == [("context", "cuda:0", 260, False), ("malloc", "cuda:0", 20, False)]
    from_ctypes = [e for e in calls if e["event"] == "driver_allocate" and e["bytes"] == 13 * MIB]
    assert len(from_ctypes) == 1 and from_ctypes[0]["library"].startswith(("libffi", "_ctypes"))


def test_physical_memory_outlives_its_handle(calls):
    """It was released before, and unmapped after another block was taken and given back."""
    events = [e for e in calls if e["event"] in ("driver_allocate", "driver_free")]
    made = next(i for i, e in enumerate(events) if e.get("call") == "memory_create" and e["event"] == "driver_allocate")
    assert [e["event"] for e in events[made : made + 4]] == ["driver_allocate", "driver_allocate", "driver_free", "driver_free"]
    assert events[made + 3]["address"] == events[made]["address"]


def test_the_context_is_measured(calls):
    contexts = [e for e in calls if e.get("call") == "context"]
    assert [(e["bytes"], e["device"]) for e in contexts] == [(CONTEXT, "cuda:0")]


def test_readings(calls):
    readings = [e for e in calls if e["event"] == "device_reading"]
    first, last = readings[0], readings[-1]
    assert first["cause"] == "start" and last["cause"] == "last"
    assert first["total_bytes"] - first["free_bytes"] == CONTEXT + 20 * MIB  # the call that made the context gave a segment
    assert first["process_bytes"] is None and last["other_processes_bytes"] == 0  # NVML is not asked in a call of the program's
    live = CONTEXT + (20 + 14) * MIB  # dealt out in steps of 2 MiB; and what the pool keeps of cudaMallocAsync
    assert last["total_bytes"] - last["free_bytes"] == last["process_bytes"] == live + last["pool_bytes"]
    assert any(e["cause"] == "peak" for e in readings)


def test_what_is_refused(tree, foreign, tmp_path):
    events = events_of(tree, tmp_path, REFUSED, foreign, options=("--sim-memory", "2GiB"), MEMOIR_SIM_PINNED="64MiB", MEMOIR_SIM_HANDLES="50MiB")
    refused = [e for e in events if e["event"] == "driver_refused"]
    assert [(e["call"], e["library"], e["device"], e["bytes"], e["error"]) for e in refused] == [
        ("malloc", "libforeign.so", "cuda:0", 100 << 30, 2), ("host_allocate", "libforeign.so", "cpu", 65 * MIB, 2),
        ("host_register", "libforeign.so", "cpu", 65 * MIB, 2), ("handle", "libcublas.so", "cuda:0", 50 * MIB, 3)]
    assert refused[0]["device_free_bytes"] == (2 << 30) - CONTEXT - 2 * MIB and refused[1]["device_free_bytes"] is None
    assert 0 < refused[3]["device_free_bytes"] <= 20 * MIB
    assert sum(e["event"] == "device_reading" and e["cause"] == "refused" for e in events) >= 2


def test_what_libraries_take_for_themselves(tree, tmp_path):
    events = events_of(tree, tmp_path, RANK, card="h100", options=("--sim-world", 2), MEMOIR_SIM_HANDLES="50MiB")
    nccl, cublas = given(events, "libnccl.so.2"), given(events, "libcublas.so")
    assert nccl[-1][0] == "library" and nccl[-1][2] > 400 and nccl[-1][3]  # the communicator ended
    assert [(call, size) for call, _, size, _ in cublas] == [("library", 50)]


def test_a_communicator_that_is_refused(tree, tmp_path):
    events = events_of(tree, tmp_path, RANK_REFUSED, options=("--sim-world", 2, "--sim-memory", "2GiB"), MEMOIR_SIM_HANDLES="50MiB")
    refused = [e for e in events if e["event"] == "driver_refused"]
    assert [(e["call"], e["library"], e["error"]) for e in refused] == [("communicator", "libnccl.so.2", 1)]


def test_others_hold_memory_too(tree, tmp_path):
    events = events_of(tree, tmp_path, "import torch; torch.zeros(1, device='cuda')", MEMOIR_SIM_OTHERS="1GiB")
    readings = [e for e in events if e["event"] == "device_reading"]
    first, last = readings[0], readings[-1]
    assert last["other_processes_bytes"] == 1 << 30 and first["total_bytes"] - first["free_bytes"] == (1 << 30) + CONTEXT + 2 * MIB


def test_a_recording_that_begins_and_pauses_in_the_middle(tree, foreign, tmp_path):
    """Without preloading the recorder. Earlier allocations have no block, and their deallocations do not end other blocks."""
    done = simulate(tree, f"MIB = 1 << 20\n{LATE}", foreign, tmp_path / "capture", MEMOIR_SIM_GPU="l4")
    assert done.returncode == 0, done.stderr[-3000:]
    events = events_in(tree, tmp_path / "capture")
    assert given(events, "libforeign.so") == [("malloc", "cuda:0", 37, True), ("malloc", "cuda:0", 5, True), ("malloc", "cuda:0", 39, True)]
    assert not given(events, "libc10_cuda.so") and sum(e["event"] == "driver_free" for e in events) == 3
