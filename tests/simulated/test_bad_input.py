"""A request that cannot be simulated gets one line that names cause and fix; the program then finds no GPU, and nothing crashes."""

import subprocess
import sys

import pytest

from simulation import environment, simulate

# Without torch, whose import takes longer than all of this: the functions as any program finds them.
ASK = '''
import ctypes
cuda, count, pointer = ctypes.CDLL(None), ctypes.c_int(), ctypes.c_void_p()
error = cuda.cudaGetDeviceCount(ctypes.byref(count))
print(error, count.value, cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)))
'''
NO_DEVICE = ["100", "0", "100"]     # cudaErrorNoDevice


def only_line(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith("memoir:")]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize("variables, words", [
    ({"MEMOIR_SIM_GPU": "h101"}, "unknown card h101; known are h100, h100-pcie"),
    ({"MEMOIR_SIM_MEMORY": "1MiB"}, "MEMOIR_SIM_MEMORY=1MiB: expected a size from 621.00 MiB"),
    ({"MEMOIR_SIM_MEMORY": "900TiB"}, "to 4.00 TiB"),
    ({"MEMOIR_SIM_DEVICES": "65"}, "MEMOIR_SIM_DEVICES=65: expected a number from 1 to 64"),
    ({"MEMOIR_SIM_WORLD": "5000"}, "MEMOIR_SIM_WORLD=5000: expected a number from 1 to 4096"),
    ({"MEMOIR_SIM_WORLD": "4", "MEMOIR_SIM_RANK": "4"}, "MEMOIR_SIM_RANK=4: expected a number from 0 to 3"),
    ({"MEMOIR_SIM_RANK": "1"}, "MEMOIR_SIM_RANK is set, but not MEMOIR_SIM_WORLD"),
    ({"MEMOIR_SIM_WORKSPACES": "/no/such/file"}, "MEMOIR_SIM_WORKSPACES=/no/such/file: No such file"),
    ({"MEMOIR_SIM_LATE": "soon"}, "MEMOIR_SIM_LATE=soon: expected a number from 0"),
    ({"MEMOIR_SIM_PROFILES": "/no/such/file"}, "MEMOIR_SIM_PROFILES=/no/such/file: No such file"),
])
def test_values(tree, variables, words):
    done = simulate(tree, ASK, **variables)
    assert done.returncode == 0 and done.stdout.split() == NO_DEVICE, done
    line = only_line(done)
    assert words in line and line.endswith("the program sees no GPU")


def test_torch_sees_no_gpu_either(tree):
    done = simulate(tree, "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())", MEMOIR_SIM_GPU="h101")
    assert done.returncode == 0 and done.stdout.split() == ["False", "0"], done
    assert "unknown card" in only_line(done)


def limited(tree, gibibytes, **variables):
    command = ["sh", "-c", f"ulimit -v {gibibytes << 20}; exec \"$0\" -c \"$1\"", sys.executable, ASK]
    return subprocess.run(command, env=environment(tree, **variables), capture_output=True, text=True, timeout=300)


def test_address_space_limit(tree):
    refused = limited(tree, 60, MEMOIR_SIM_GPU="h100")
    assert refused.returncode == 0 and refused.stdout.split() == NO_DEVICE, refused
    assert "raise 'ulimit -v', or simulate less memory" in only_line(refused)
    fits = limited(tree, 60, MEMOIR_SIM_GPU="l4")
    assert fits.returncode == 0 and fits.stdout.split() == ["0", "1", "0"] and not fits.stderr, fits


# As a kernel that does not overcommit (vm.overcommit_memory=2) answers: large private mappings are refused, files are not; with `files`, those, too.
STINGY = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
void* mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_PRIVATE) && (flags & MAP_ANONYMOUS) && bytes > (8ul << 30)) { errno = ENOMEM; return MAP_FAILED; }
  return ((void* (*)(void*, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"))(where, bytes, protection, flags, file, offset);
}
#ifdef FILES
int memfd_create(const char* name, unsigned flags) { errno = ENOSYS; return -1; }
#endif
'''
ROUND_TRIP = '''
import resource, torch
x = torch.arange(1000, device="cuda")
large, piece = torch.ones(1 << 26).cuda(), torch.ones(1 << 18)
kept = [piece.cuda() for _ in range(3000)]
print(int(x.sum()), torch.cuda.mem_get_info()[1] >> 20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
'''


@pytest.mark.parametrize("files", [False, True])
def test_overcommit_off(tree, tmp_path, files):
    (tmp_path / "stingy.c").write_text(STINGY)
    subprocess.run(["cc", "-shared", "-fPIC", *(["-DFILES"] if files else []), "-o", tmp_path / "stingy.so", tmp_path / "stingy.c", "-ldl"], check=True)
    preload = f"{tmp_path / 'stingy.so'}:{environment(tree)['LD_PRELOAD']}"
    done = simulate(tree, ASK if files else ROUND_TRIP, LD_PRELOAD=preload, MEMOIR_SIM_GPU="l4")
    assert done.returncode == 0, done.stderr
    if files:
        assert done.stdout.split() == NO_DEVICE
        assert "let the system overcommit (sysctl vm.overcommit_memory=0), or simulate less memory" in only_line(done)
    else:
        total, memory, resident = map(int, done.stdout.split())
        assert (total, memory) == (499500, 22478) and resident < 600 + 512 + 256 + 512, "MiB: torch, what is kept, the large tensor, and some"


OWN_RUNTIME = '''
import ctypes, pathlib, sys
library = next(p for folder in sys.path for p in pathlib.Path(folder).glob("nvidia/*/lib/libcublas.so.*"))
handle = ctypes.c_void_p()
print([ctypes.CDLL(str(library)).cublasCreate_v2(ctypes.byref(handle)) for _ in range(2)])
'''


def test_a_library_with_a_runtime_of_its_own(tree):
    """cuBLAS itself is one: called by its own file, and not by its name."""
    done = simulate(tree, OWN_RUNTIME)
    assert done.returncode == 0 and done.stdout.strip() == "[1, 1]", done       # CUBLAS_STATUS_NOT_INITIALIZED
    line = only_line(done)
    assert line.startswith("memoir: simulated GPU: libcublas.so.") and "is linked with its own CUDA runtime" in line


def test_programs_that_have_no_use_for_it_are_as_before(tree):
    for command in (["sh", "-c", "echo out; echo err >&2; exit 3"], ["ls", "/"]):
        plain = subprocess.run(command, capture_output=True, text=True)
        beside = subprocess.run(command, env=environment(tree, MEMOIR_SIM_GPU="no such card"), capture_output=True, text=True)
        assert (beside.returncode, beside.stdout, beside.stderr) == (plain.returncode, plain.stdout, plain.stderr)


LOADS_WEIGHTS = '''
import resource, torch
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
piece = torch.ones(1 << 18)
kept = [piece.cuda() for _ in range(8000)]
large = torch.ones(1 << 26).cuda()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, torch.cuda.memory_allocated() >> 20)
try:
    torch.zeros(1, device="cuda:1")
except RuntimeError as error:
    print(error)
'''


def test_memory_of_the_host_stays_bounded_and_other_devices_do_not_exist(tree):
    done = simulate(tree, LOADS_WEIGHTS)
    assert done.returncode == 0, done.stderr
    host, device = map(int, done.stdout.splitlines()[0].split())
    assert device >= 8000 and host < 512 + 256 + 256      # MiB: what is kept, the large tensor, and some
    assert "invalid device ordinal" in done.stdout
    assert only_line(done) == ("memoir: simulated GPU: device 1 was asked for, but 1 is simulated, numbered from 0; simulate more (run --sim-devices, "
                               "fit --devices)")


def test_a_torch_without_cuda(tree):
    """The state at its start-up, faked: no such machine is available."""
    program = ("import sys, types; sys.modules['torch'] = types.SimpleNamespace(__version__='2.11.0+cpu', version=types.SimpleNamespace(cuda=None))\n"
               f"sys.path.insert(0, {str(tree / 'lib/memoir/python')!r}); from _torch_memoir import _startup; _startup.from_torch(); print('goes on')")
    done = simulate(tree, program, MEMOIR_SIM_GPU="l4")
    assert done.returncode == 0 and done.stdout.strip() == "goes on", done
    assert only_line(done) == ("memoir: --simulate l4: torch 2.11.0+cpu is built without CUDA and sees no GPU, simulated or not; install one with it: pip install "
                               "torch")
