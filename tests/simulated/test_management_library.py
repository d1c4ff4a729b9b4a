"""NVIDIA's management library, as torch and programs that watch a GPU use it: processes and their memory, an idle card's sensors, no fabric."""

import importlib.util
import os

import pytest

from simulation import ON_GPU, answers, environment, simulate

MIB = 1 << 20
GROWS = '''
import json, torch
MIB = 1 << 20
kept = [torch.empty(size * MIB, dtype=torch.uint8, device="cuda") for size in (3, 30, 50)]
del kept[1]
torch.cuda.empty_cache()
kept.append(torch.empty(20 * MIB, dtype=torch.uint8, device="cuda"))
segments = [s for s in torch.cuda.memory_snapshot() if s["segment_type"] == "large"]
try:
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError as error:
    text = str(error)
print(json.dumps([all(s["is_expandable"] for s in segments), torch.cuda.memory_allocated() // MIB, text]))
'''


def test_segments_that_grow_and_the_text_of_an_error(tree):
    expandable, allocated, text = answers(tree, GROWS, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
    assert expandable and allocated == 73
    assert "Including non-PyTorch memory, this process has" in text


@pytest.mark.skipif(ON_GPU, reason="a GPU has the whole library")
def test_it_is_found_by_its_name_and_torch_counts_devices_by_cuda(tree):
    """nvmlInit is not there: with it torch would take CUDA_VISIBLE_DEVICES for what hides cards."""
    program = '''
import ctypes, os
cuda, count, device, size = ctypes.CDLL(None), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint(1)
cuda.cudaGetDeviceCount(ctypes.byref(count))
library = ctypes.CDLL("libnvidia-ml.so.1")
class Process(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("used", ctypes.c_ulonglong)]
process, pointer = Process(), ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4 << 20))
wrong = library.nvmlDeviceGetHandleByPciBusId_v2(b"00000000:7f:00.0", ctypes.byref(device))
print(library.nvmlInit_v2(), wrong, library.nvmlDeviceGetHandleByPciBusId_v2(b"00000000:10:00.0", ctypes.byref(device)))
print(library.nvmlDeviceGetComputeRunningProcesses(device, ctypes.byref(size), ctypes.byref(process)), process.id == os.getpid(), process.used >> 20)
print(hasattr(library, "nvmlInit"))
'''
    done = simulate(tree, program, MEMOIR_SIM_GPU="l4")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "6", "0", "0", "True", str(260 + 4), "False"]


# Stands in for the package nvidia-ml-py where that is not installed: the functions that torch.cuda uses.
STAND_IN = '''
import ctypes, types
class NVMLError(Exception): pass
class NVMLError_DriverNotLoaded(NVMLError): pass
class Pair(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]
class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]
class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("usedGpuMemory", ctypes.c_ulonglong), ("gpu", ctypes.c_uint), ("compute", ctypes.c_uint)]
def call(name, *arguments):
    result = getattr(ctypes.CDLL("libnvidia-ml.so.1"), name)(*arguments)
    if result != 0: raise NVMLError(name, result)
def got(name, value, *arguments):
    call(name, *arguments, ctypes.byref(value))
    return value
def nvmlInit(): call("nvmlInitWithFlags", 0)
def nvmlDeviceGetCount(): return got("nvmlDeviceGetCount_v2", ctypes.c_uint()).value
def nvmlDeviceGetHandleByIndex(index): return got("nvmlDeviceGetHandleByIndex_v2", ctypes.c_void_p(), ctypes.c_uint(index))
def nvmlDeviceGetName(device):
    text = ctypes.create_string_buffer(96)
    call("nvmlDeviceGetName", device, text, 96)
    return text.value.decode()
def nvmlDeviceGetMemoryInfo(device): return got("nvmlDeviceGetMemoryInfo", Memory(), device)
def nvmlDeviceGetUtilizationRates(device): return got("nvmlDeviceGetUtilizationRates", Pair(), device)
def nvmlDeviceGetTemperature(device, sensor): return got("nvmlDeviceGetTemperature", ctypes.c_uint(), device, sensor).value
def nvmlDeviceGetPowerUsage(device): return got("nvmlDeviceGetPowerUsage", ctypes.c_uint(), device).value
def nvmlDeviceGetClockInfo(device, clock): return got("nvmlDeviceGetClockInfo", ctypes.c_uint(), device, clock).value
def nvmlDeviceGetComputeRunningProcesses(device):
    count, rows = ctypes.c_uint(8), (Process * 8)()
    call("nvmlDeviceGetComputeRunningProcesses_v3", device, ctypes.byref(count), rows)
    return list(rows[:count.value])
'''
WATCHES = '''
import pynvml
pynvml.nvmlInit()                  # before the first call of CUDA, and before torch
import json, os, torch
cuda = torch.cuda
first = [cuda.temperature(), cuda.utilization()]
kept = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
device = pynvml.nvmlDeviceGetHandleByIndex(int(os.environ.get("CUDA_VISIBLE_DEVICES", "0")))
free, total = cuda.mem_get_info()
print(json.dumps({"torch": [cuda.utilization(), cuda.memory_usage(), cuda.temperature(), cuda.power_draw(), cuda.clock_rate()], "first": first,
                  "used": [cuda.device_memory_used(), pynvml.nvmlDeviceGetMemoryInfo(device).used, total - free],
                  "processes": cuda.list_gpu_processes().splitlines()[1:], "own": f"process {os.getpid():>10d} uses {cuda.device_memory_used() / 2**20:>12.3f} MB GPU memory",
                  "count": [pynvml.nvmlDeviceGetCount(), cuda.device_count()], "name": pynvml.nvmlDeviceGetName(device)}))
'''


@pytest.mark.skipif(ON_GPU, reason="about the simulated device itself")
@pytest.mark.parametrize("variables", [{}, {"CUDA_VISIBLE_DEVICES": "5"}])
def test_programs_that_watch_the_card(tree, tmp_path, variables):
    """An idle card: kernels take no time. Memory and processes are the device's. A card's number is the one that CUDA_VISIBLE_DEVICES has."""
    if importlib.util.find_spec("pynvml") is None:
        (tmp_path / "pynvml.py").write_text(STAND_IN)
    path = os.pathsep.join((environment(tree)["PYTHONPATH"], str(tmp_path), os.environ.get("PYTHONPATH", "")))
    seen = answers(tree, WATCHES, MEMOIR_SIM_GPU="l4", PYTHONPATH=path, **variables)
    assert seen["torch"] == [0, 0, 40, 70_000, 2040] and seen["first"] == [40, 0]
    assert len(set(seen["used"])) == 1 and seen["used"][0] > 100 * MIB
    assert seen["processes"] == [seen["own"]], "this process alone"
    assert seen["count"] == [1, 1] and seen["name"] == "NVIDIA L4"
