// What modules and optimizers hold where the writer stands: the newest records of each, for a snapshot, whose reader
// has no earlier events. Kept as they came out of the ring, up to kMostHeldBytes; past that gradients that were said
// longest ago go, which may be gone long since, and then holders. One thread.
#ifndef TRACKER_WRITER_HELD_NOW_H_
#define TRACKER_WRITER_HELD_NOW_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracker/writer/event_group.h"

namespace memoir {

inline constexpr std::size_t kMostHeldBytes = 4u << 20;

class HeldNow {
 public:
  // Of a group of kHolds.
  void Note(std::uint32_t thread, const EventGroup& group);
  // One of the records as a group, copied: it may be changed.
  struct Copy {
    EventGroup group;
    RecordHeader* header = nullptr;
    std::vector<TensorRecord*> tensors;
  };
  // Modules and optimizers first, then gradients, each in the order in which they were last said. Copies are valid
  // during the call.
  void ForEach(const std::function<void(Copy&)>& visit) const;

 private:
  using Words = std::vector<std::uint64_t>;  // records, one behind the other
  struct Holder {
    std::pair<std::uint8_t, std::uint64_t> key;  // HolderKind, and whose
    Words words;
  };
  using Order = std::list<Holder>;
  Order& OrderOf(const Holder& holder);
  void Drop(Order::iterator holder);
  void Append(Order::iterator holder, const EventGroup& group);
  void KeepWithinBounds(Order::iterator newest);

  Order holders_, gradients_;  // said longest ago first
  std::map<std::pair<std::uint8_t, std::uint64_t>, Order::iterator> known_;
  std::unordered_map<std::uint32_t, Order::iterator> newest_;  // by thread: which kMore goes on with
  std::size_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_HELD_NOW_H_
