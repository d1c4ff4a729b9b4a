"""What torch asks of NVIDIA's management library: who holds memory, in an error's text; and segments that grow, before which torch 2.15 asks for a fabric."""

import pytest

from simulation import ON_GPU, answers, simulate

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
def test_it_is_found_by_its_name_and_holds_nothing_for_others(tree):
    """Python's programs first call what is not there, and see no NVML, as before."""
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
