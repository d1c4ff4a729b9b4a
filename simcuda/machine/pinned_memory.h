// Pinned host memory. Here it is ordinary memory of the process; PinnedMemory lists which ranges are pinned.
//
// Any thread.
#ifndef SIMCUDA_MACHINE_PINNED_MEMORY_H_
#define SIMCUDA_MACHINE_PINNED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

class PinnedMemory {
 public:
  // `most`: the most bytes that may be pinned at once.
  explicit PinnedMemory(std::uint64_t most = UINT64_MAX) : most_(most) {}

  // Allocates whole pages of zeros. nullptr if the system has no memory, or the limit is reached.
  void* Allocate(std::size_t bytes);
  bool Free(void* address);  // false if it is not from Allocate

  // Pins the program's own memory. kOverlaps: some of it is pinned already. kRefused: the limit is reached.
  enum class RegisterResult { kYes, kOverlaps, kRefused };
  RegisterResult Register(void* address, std::size_t bytes);
  bool Unregister(void* address);  // false if it is not from Register

  bool IsPinned(const void* address) const;
  std::uint64_t pinned_bytes() const;

 private:
  struct Range {
    std::size_t bytes = 0;
    bool ours = false;
  };
  bool Overlaps(std::uint64_t address, std::size_t bytes) const;

  bool Take(std::uint64_t bytes);

  const std::uint64_t most_;
  mutable Mutex mutex_;
  std::uint64_t pinned_ = 0;
  std::map<std::uint64_t, Range> ranges_;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_PINNED_MEMORY_H_
