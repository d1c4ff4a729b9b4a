// Which parts a size cap keeps longest: those with a device's highest peak so far, and those with out-of-memory errors.
// One thread.
#ifndef TRACKER_WRITER_KEPT_PARTS_H_
#define TRACKER_WRITER_KEPT_PARTS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "tracker/writer/memory_state.h"

namespace memoir {

class KeptParts {
 public:
  static constexpr std::uint32_t kNoPart = ~std::uint32_t{0};  // the chunk was lost

  // After each chunk: the sums with it, and the number of the part that it is in.
  void Note(const std::vector<DeviceSums>& devices, std::uint32_t part);

  // Numbers of parts, the most important first: the highest peak of a GPU (without one, of any device), out-of-memory
  // errors, the newest first, then the peaks of other devices.
  std::vector<std::uint32_t> ByImportance() const;

 private:
  static constexpr std::size_t kMostErrors = 64;
  struct Peak {
    std::uint64_t bytes = 0;
    std::uint64_t ooms = 0;
    bool is_gpu = false;
    std::uint32_t part = kNoPart;
  };
  std::vector<Peak> peaks_;           // by device
  std::deque<std::uint32_t> errors_;  // parts, the newest first
};

}  // namespace memoir

#endif  // TRACKER_WRITER_KEPT_PARTS_H_
