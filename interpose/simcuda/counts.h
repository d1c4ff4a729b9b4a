// How often each stand-in was called, each kernel launched, and a shape depended on unknown values, by name: what
// `MEMOIR_SIM_COUNTS=FILE` writes at exit.
//
// Any thread, from before main on. Counting is one relaxed addition.
#ifndef INTERPOSE_SIMCUDA_COUNTS_H_
#define INTERPOSE_SIMCUDA_COUNTS_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "interpose/simcuda/uncomputed_launches.h"

namespace memoir::simcuda {

// A function of a CUDA library for which there is a default and no behaviour. The generated files hold one for each.
struct StubCall {
  const char* name;
  std::atomic<std::uint64_t> calls{0};

  void Count() {
    calls.fetch_add(1, std::memory_order_relaxed);
    ++work_in_operator;
  }
};

// Every generated table.
std::span<const std::span<StubCall>> StubTables();

// Calls of the stub of that name; 0 for one that was not called or does not exist.
std::uint64_t CallsOfStub(const std::string& name);

// Appends "PID<tab>launch|call|unknown<tab>COUNT<tab>NAME", the greatest first, to the file that MEMOIR_SIM_COUNTS
// names.
void WriteCounts();

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_COUNTS_H_
