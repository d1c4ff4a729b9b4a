// What simulated device memory holds: bytes that small copies brought, and zeros everywhere else.
//
// Kernels do nothing, so only copies and fills write. Device memory is ordinary memory of the process; a page exists
// where something was kept. Kept are copies of up to kLargestKept bytes, and kMostKept bytes in all: what comes beyond
// is dropped, counted, and reads as zero, so that a program that loads 70 GB of weights stays small.
//
// Which bytes are known: those that copies and fills wrote, and those of Know. A copy within the device carries that
// along; what is forgotten, or overwritten by something dropped, is unknown.
//
// Any thread; one lock, held for the length of a copy.
#ifndef INTERPOSE_SIMCUDA_CONTENTS_H_
#define INTERPOSE_SIMCUDA_CONTENTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "interpose/simcuda/byte_ranges.h"
#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {

class Contents {
 public:
  static constexpr std::uint64_t kLargestKept = 1u << 20;
  static constexpr std::uint64_t kMostKept = 512u << 20;
  static constexpr int kMostRegions = 64;

  explicit Contents(std::uint64_t most_kept = kMostKept) : most_kept_(most_kept) {}

  // Makes [base, base + bytes) device memory, for ever. At most kMostRegions.
  void AddRegion(std::uint64_t base, std::uint64_t bytes);
  bool IsDeviceMemory(const void* address) const;
  std::vector<ByteRange> Regions() const;

  // memmove between any two places, as far as contents are kept. False: the host was given zeros, or what it finds
  // there, for bytes that nobody knows.
  bool Copy(void* to, const void* from, std::size_t bytes);
  // memset, likewise.
  void Fill(void* to, int value, std::size_t bytes);
  // [address, address + bytes) reads as zero from now on: freed, or given to somebody new.
  void Forget(std::uint64_t address, std::uint64_t bytes);

  // [address, address + bytes) is about to be written, by the host, with what a kernel would write. False: no room for
  // more pages, and it must not be written.
  bool Know(std::uint64_t address, std::uint64_t bytes);
  bool IsKnown(std::uint64_t address, std::uint64_t bytes) const;

  std::uint64_t kept_bytes() const;                                        // whole pages
  std::uint64_t dropped_copies() const { return dropped_copies_.load(); }  // whose bytes were not kept

 private:
  using Pages = std::map<std::uint64_t, std::uint64_t>;  // first -> bytes; neighbours are merged

  bool CopyToHost(void* to, std::uint64_t from, std::size_t bytes);
  void CopyToDevice(std::uint64_t to, const void* from, std::size_t bytes, bool from_device);
  bool AnyKept(std::uint64_t address, std::uint64_t bytes) const;
  bool Keep(std::uint64_t address, std::uint64_t bytes);  // false: no room
  void ForgetLocked(std::uint64_t address, std::uint64_t bytes);
  void ZeroPart(std::uint64_t begin, std::uint64_t end);
  void DropPages(std::uint64_t first, std::uint64_t end);

  const std::uint64_t most_kept_;
  std::array<std::atomic<std::uint64_t>, kMostRegions> region_base_{}, region_bytes_{};
  std::atomic<int> regions_{0};
  std::atomic<std::uint64_t> dropped_copies_{0};
  mutable Mutex mutex_;
  Pages pages_;
  ByteRanges known_;
  std::uint64_t kept_ = 0;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_CONTENTS_H_
