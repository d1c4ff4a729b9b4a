// Which module the forward operator with an autograd sequence number ran in, for one thread: by it a backward node
// finds its module. Several operators can carry one number, since only those that make a node use it up: the last
// counts.
//
// Holds the newest 2^20 numbers of the thread, of which a graph seldom has more; a node whose operator lies further
// back belongs to no module.
#ifndef TOOLS_MODEL_FORWARD_MODULES_H_
#define TOOLS_MODEL_FORWARD_MODULES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/model/ids.h"

namespace memoir {

class ForwardModules {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // 16 MiB

  // `module` may be invalid: the operator ran in none. `sequence` is not negative.
  void Note(std::int64_t sequence, ModuleId module);
  ModuleId Find(std::int64_t sequence) const;  // invalid: in none, or not known

 private:
  struct Entry {
    std::int64_t sequence = -1;
    ModuleId module;
  };
  Entry& At(std::int64_t sequence) { return entries_[static_cast<std::size_t>(sequence) & (entries_.size() - 1)]; }
  void Grow();

  std::vector<Entry> entries_;  // by the low bits of the number
};

}  // namespace memoir

#endif  // TOOLS_MODEL_FORWARD_MODULES_H_
