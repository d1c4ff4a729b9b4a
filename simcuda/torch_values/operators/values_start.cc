#include "simcuda/torch_values/operators/values_start.h"

#include <cstdio>
#include <exception>

#include "simcuda/torch_values/memory/simulated_memory.h"
#include "simcuda/torch_values/operators/computed_operators.h"

extern "C" __attribute__((visibility("default"))) int memoir_values_start(char* message, unsigned long long size) {
  if (!memoir::FindSimulatedDevice()) return 1;
  static bool started = false;
  if (started) return 0;
  try {
    memoir::ComputeSmallOperators();
    started = true;
    return 0;
  } catch (const std::exception& failure) {
    std::snprintf(message, size, "%s", failure.what());
    return 2;
  }
}
