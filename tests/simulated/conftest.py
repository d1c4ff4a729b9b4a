"""On a real GPU (TESTED_ON_GPU=1) only what knows nothing of the simulation is run."""

import shutil
import subprocess

import pytest

from simulation import ON_GPU

# Programs of torch alone; the others test options, values, tables and messages of the simulated device, or record on it.
ALSO_ON_A_GPU = {"test_cuda_memory", "test_management_library", "test_operators", "test_random_programs", "test_traces", "test_training"}


def pytest_collection_modifyitems(items):
    if not ON_GPU:
        return
    for item in items:
        if item.path.stem not in ALSO_ON_A_GPU:
            item.add_marker(pytest.mark.skip(reason="about the simulated device itself"))


# An allocator of the program's own, as PyTorch's documentation has it.
PLUGGABLE = '''
#include <stddef.h>
int cudaMalloc(void**, size_t);
int cudaFree(void*);
static size_t live, allocations;
void* my_alloc(ptrdiff_t size, int device, void* stream) {
  void* pointer = 0;
  (void)device, (void)stream;
  if (cudaMalloc(&pointer, (size_t)size) != 0) return 0;
  live += (size_t)size;
  ++allocations;
  return pointer;
}
void my_free(void* pointer, ptrdiff_t size, int device, void* stream) {
  (void)device, (void)stream;
  live -= (size_t)size;
  cudaFree(pointer);
}
size_t my_live(void) { return live; }
size_t my_allocations(void) { return allocations; }
'''


@pytest.fixture(scope="session")
def pluggable(tmp_path_factory):
    """A library of a pluggable allocator, which takes from the driver and counts."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to build an allocator with")
    folder = tmp_path_factory.mktemp("pluggable")
    (folder / "allocator.c").write_text(PLUGGABLE)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "liballocator.so", folder / "allocator.c"], check=True)
    return folder / "liballocator.so"
