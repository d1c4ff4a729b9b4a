// A card profile: the figures of one simulated card, and the parser of files in the form of profiles.txt. Used by the
// device and by the program that starts it.
//
// Plain values; any thread. This file does not depend on CUDA.
#ifndef SIMCUDA_USER_TABLES_CARD_PROFILE_H_
#define SIMCUDA_USER_TABLES_CARD_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::simcuda {

struct CardProfile {
  bool operator==(const CardProfile&) const = default;

  std::string key;   // "h100": the argument of --simulate
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int compute_major = 0, compute_minor = 0;
  int binary_version = 0;         // 86: newest kernel image of PyTorch's wheels that runs on the card
  bool common = false;            // included in `memoir fit --gpu all`
  std::uint64_t memory = 0;       // bytes, cudaMemGetInfo's total: the least that any driver reports
  std::uint64_t memory_most = 0;  // bytes, the most that any driver reports; 0: only `memory` is known
  std::uint64_t context = 0;      // bytes that a process takes for its CUDA context and loaded modules
  std::uint64_t unowned = 0;      // bytes that belong to no process, and are not free
  // Bytes that these libraries take outside of torch; optional. 0: not known.
  std::uint64_t cublas_handle = 0;  // per handle
  std::uint64_t cudnn = 0;          // with the first handle on the device
  int multiprocessors = 0, threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  std::uint64_t shared_memory = 0;  // bytes per multiprocessor
  std::uint64_t shared_memory_per_block = 0;
  std::uint64_t l2_cache = 0;
  int clock_mhz = 0, memory_bus_bits = 0;
  // Bytes that NCCL takes outside of torch; optional. 0: not known.
  std::uint64_t nccl_pair = 0;   // per communicator of two ranks
  std::uint64_t nccl_group = 0;  // per communicator of more ranks
  std::uint64_t nccl_peer = 0;   // per peer on the same machine to which a rank sends or from which it receives
};

// Adds the cards of `text` to `profiles`. A card replaces an earlier one with the same key. Returns "" or an error
// message with its line number. After an error `profiles` has the cards before the error.
std::string ParseProfiles(std::string_view text, std::vector<CardProfile>& profiles);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_USER_TABLES_CARD_PROFILE_H_
