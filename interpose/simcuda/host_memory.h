// Pinned host memory: ordinary memory of the process that is remembered as pinned.
//
// Any thread.
#ifndef INTERPOSE_SIMCUDA_HOST_MEMORY_H_
#define INTERPOSE_SIMCUDA_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {

class HostMemory {
 public:
  // Pins at most so much.
  explicit HostMemory(std::uint64_t most = UINT64_MAX) : most_(most) {}

  // Whole pages, zero; nullptr when the system, or the bound, gives none.
  void* Allocate(std::size_t bytes);
  bool Free(void* address);  // false: not from Allocate

  // The program's own memory.
  enum class Registered { kYes, kOverlaps, kRefused };  // overlaps what is pinned already; the bound
  Registered Register(void* address, std::size_t bytes);
  bool Unregister(void* address);  // false: not from Register

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

#endif  // INTERPOSE_SIMCUDA_HOST_MEMORY_H_
