// The contents of simulated device memory: bytes of small copies, and zeros everywhere else.
//
// Kernels do nothing, so only copies and fills write. Device memory is ordinary memory of the process, and only kept
// bytes occupy pages. A copy is kept if it has at most kLargestKept bytes, and if at most kMostKept bytes are then
// kept in total. Other copies are dropped and counted, and read as zero. So a program that loads 70 GB of weights stays
// small.
//
// Known bytes have the values that a GPU would have: copies, fills, or the caller of MarkKnown wrote them. A copy
// within the device makes its target known or unknown, like its source. Bytes become unknown by MarkUnknown, or if a
// dropped copy overwrites them.
//
// Any thread; one lock, held during a copy.
#ifndef SIMCUDA_CONTENTS_CONTENTS_H_
#define SIMCUDA_CONTENTS_CONTENTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "simcuda/contents/byte_ranges.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

class Contents {
 public:
  static constexpr std::uint64_t kLargestKept = 1u << 20;
  static constexpr std::uint64_t kMostKept = 512u << 20;
  static constexpr int kMostRegions = 64;

  explicit Contents(std::uint64_t most_kept = kMostKept) : most_kept_(most_kept) {}

  // Makes [base, base + bytes) device memory until the process ends. At most kMostRegions calls.
  void AddRegion(std::uint64_t base, std::uint64_t bytes);
  bool IsDeviceMemory(const void* address) const;
  std::vector<ByteRange> Regions() const;

  // Copies like memmove between any two places, as far as the copied bytes are kept. False if it copied unknown bytes
  // to the host, and wrote no answer (copy_answers.h) in their place.
  bool Copy(void* to, const void* from, std::size_t bytes);
  // Fills like memset, as far as the bytes are kept.
  void Fill(void* to, int value, std::size_t bytes);
  // Makes the bytes unknown; they read as zero. For bytes that are freed or newly allocated.
  void MarkUnknown(std::uint64_t address, std::uint64_t bytes);

  // Makes the bytes known. The caller then writes the values that a kernel would write. False if there is no room for
  // more pages; then the caller must not write.
  bool MarkKnown(std::uint64_t address, std::uint64_t bytes);
  bool IsKnown(std::uint64_t address, std::uint64_t bytes) const;

  std::uint64_t kept_bytes() const;                                        // whole pages
  std::uint64_t dropped_copies() const { return dropped_copies_.load(); }  // copies whose bytes were not kept

 private:
  using Pages = std::map<std::uint64_t, std::uint64_t>;  // first -> bytes; neighbours are merged

  bool CopyToHost(void* to, std::uint64_t from, std::size_t bytes);
  void CopyToDevice(std::uint64_t to, const void* from, std::size_t bytes, bool from_device);
  bool HasKeptBytes(std::uint64_t address, std::uint64_t bytes) const;
  bool Keep(std::uint64_t address, std::uint64_t bytes);  // false: no room
  void MarkUnknownLocked(std::uint64_t address, std::uint64_t bytes);
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

#endif  // SIMCUDA_CONTENTS_CONTENTS_H_
