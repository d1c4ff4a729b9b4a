// The stretches of a part (docs/capture_format.md, "Stretches").
#ifndef TOOLS_MODEL_STRETCH_TABLE_H_
#define TOOLS_MODEL_STRETCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "tools/read/stretch.h"

namespace memoir {

// Where a capture defines more than the recorder knows at a time, older ones are forgotten.
class StretchTable {
 public:
  void Define(const std::shared_ptr<const Stretch>& stretch);
  std::shared_ptr<const Stretch> Find(std::uint32_t id);  // nullptr: not known
  void Clear();

 private:
  static constexpr std::size_t kMostStretches = 256;  // the recorder: 16
  static constexpr std::uint64_t kMostEvents = 1u << 22;
  struct Entry {
    std::shared_ptr<const Stretch> stretch;
    std::uint64_t used = 0;
  };
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
  std::uint64_t events_ = 0, uses_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_STRETCH_TABLE_H_
