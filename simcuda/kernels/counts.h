// Counts the calls of each stub, the launches of each kernel, and each operator's shapes that depend on unknown values.
// If MEMOIR_SIM_COUNTS names a file, the process appends the counts to this file at exit.
//
// Any thread, also before main. Counting is one relaxed addition.
#ifndef SIMCUDA_KERNELS_COUNTS_H_
#define SIMCUDA_KERNELS_COUNTS_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "simcuda/kernels/uncomputed_launches.h"

namespace memoir::simcuda {

// The counter of one stub: a function of a CUDA library that returns a default and does nothing else. The generated
// files contain one StubCall for each stub.
struct StubCall {
  const char* name;
  std::atomic<std::uint64_t> calls{0};

  void Count() {
    calls.fetch_add(1, std::memory_order_relaxed);
    ++work_in_operator;
  }
};

// Returns the tables of counters in all generated files.
std::span<const std::span<StubCall>> StubTables();

// Returns the number of calls of the stub `name`. 0 if the stub was not called or does not exist.
std::uint64_t CallsOfStub(const std::string& name);

// Appends lines "PID<tab>launch|call|unknown<tab>COUNT<tab>NAME", the greatest count first, to the file that
// MEMOIR_SIM_COUNTS names.
void WriteCounts();

}  // namespace memoir::simcuda

#endif  // SIMCUDA_KERNELS_COUNTS_H_
