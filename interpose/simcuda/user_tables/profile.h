// What a simulated card is: the figures of profiles.txt, and the parser of files in that form, for the device and for
// the program that starts it.
//
// Plain values; any thread. Nothing here knows of CUDA.
#ifndef INTERPOSE_SIMCUDA_USER_TABLES_PROFILE_H_
#define INTERPOSE_SIMCUDA_USER_TABLES_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memoir::simcuda {

struct Profile {
  bool operator==(const Profile&) const = default;

  std::string key;   // "h100": what --simulate takes
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int compute_major = 0, compute_minor = 0;
  int binary_version = 0;         // 86: newest kernel image of PyTorch's wheels that runs on it
  bool common = false;            // one of `memoir fit --gpu all`
  std::uint64_t memory = 0;       // bytes, cudaMemGetInfo's total: the least that a driver reports
  std::uint64_t memory_most = 0;  // the most; 0: only the one is known
  std::uint64_t context = 0;      // bytes taken before the first allocation
  std::uint64_t unowned = 0;      // bytes that belong to no process, and are not free
  // Of these libraries, outside of torch; a card need not have them. 0: not known.
  std::uint64_t cublas_handle = 0;  // of each handle
  std::uint64_t cudnn = 0;          // with the first handle on the device
  int multiprocessors = 0, threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  std::uint64_t shared_memory = 0;  // bytes per multiprocessor
  std::uint64_t shared_memory_per_block = 0;
  std::uint64_t l2_cache = 0;
  int clock_mhz = 0, memory_bus_bits = 0;
  // Of NCCL, outside of torch; a card need not have them. 0: not known.
  std::uint64_t nccl_pair = 0;   // of a communicator of two ranks
  std::uint64_t nccl_group = 0;  // of one of more
  std::uint64_t nccl_peer = 0;   // for each rank of the machine that is sent to or received from
};

// "512MiB", "2GiB", "100000": bytes, with the units KiB to TiB, K to T, B. 0 when it is no size (no card has 0 bytes).
std::uint64_t ParseBytes(std::string_view text);

// Adds the cards of `text` to `profiles`; one of the same key replaces the older. Returns "" or what is wrong, with its
// line number. After an error `profiles` holds what came before it.
std::string ParseProfiles(std::string_view text, std::vector<Profile>& profiles);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_USER_TABLES_PROFILE_H_
