// Finds the parts that are evicted last under a size limit: for each device, the part with its highest peak so far, and
// parts with out-of-memory errors. Only one thread may use an object.
#ifndef TRACKER_WRITER_IMPORTANT_PARTS_H_
#define TRACKER_WRITER_IMPORTANT_PARTS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "tracker/writer/state/memory_state.h"

namespace memoir {

class ImportantParts {
 public:
  static constexpr std::uint32_t kNoPart = ~std::uint32_t{0};  // used as the number of a part if the chunk was lost

  // Call it after each chunk. `devices`: the sums after this chunk. `part`: the number of the chunk's part.
  void Note(const std::vector<DeviceSums>& devices, std::uint32_t part);

  // Returns the numbers of the parts, the most important first. First comes the part with the highest peak of a GPU
  // (without a GPU, of any device). Then come the parts with out-of-memory errors, the newest first, and last the parts
  // with the peaks of other devices.
  std::vector<std::uint32_t> ListByImportance() const;

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

#endif  // TRACKER_WRITER_IMPORTANT_PARTS_H_
