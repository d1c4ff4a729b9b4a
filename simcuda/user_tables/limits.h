// Limits on the values that users may request for a simulated machine, and the granularity of cudaMalloc. The device
// refuses values outside of the limits, and so does `memoir run` before it starts the program.
//
// Constants and plain functions; any thread.
#ifndef SIMCUDA_USER_TABLES_LIMITS_H_
#define SIMCUDA_USER_TABLES_LIMITS_H_

#include <cstdint>

#include "simcuda/user_tables/card_profile.h"

namespace memoir::simcuda {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGiB = 1u << 30;

// The granularity of cudaMalloc's blocks and of mappings, in bytes.
constexpr std::uint64_t kGranularity = 2 * kMiB;

constexpr int kMostDevices = 64;
constexpr int kLongestPatience = 1'000'000;  // seconds
constexpr std::uint64_t kMostMemory = 4096 * kGiB;

// The smallest memory, in bytes, on which `profile` can run a program: its context and one block.
inline std::uint64_t LeastMemory(const CardProfile& profile) {
  return profile.context + profile.unowned + kGranularity;
}

}  // namespace memoir::simcuda

#endif  // SIMCUDA_USER_TABLES_LIMITS_H_
