#include "tests/simcuda/simulated_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>

#include "gtest/gtest.h"

namespace memoir::simcuda {

void* Symbol(const char* name) {
  static void* const library = [] {
    setenv("MEMOIR_SIM_GPU", "l4", 1);
    setenv("MEMOIR_SIM_MEMORY", "4GiB", 1);
    setenv("MEMOIR_SIM_DEVICES", "2", 1);
    setenv("MEMOIR_SIM_WORLD", "4096", 1);
    return dlopen(MEMOIR_SIMCUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  }();
  void* const symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) {
    ADD_FAILURE() << "no " << name << " in " << MEMOIR_SIMCUDA_LIBRARY;
    std::abort();
  }
  return symbol;
}

std::uint64_t FreeBytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(SIM(cudaMemGetInfo)(&free, &total), cudaSuccess);
  EXPECT_EQ(total, kTestMemory);
  return free;
}

}  // namespace memoir::simcuda
