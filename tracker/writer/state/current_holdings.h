// Stores the tensors that modules and optimizers hold after the last event that was added to a chunk: the newest
// records of each module and optimizer, and of each gradient. A snapshot contains them, because its reader has no
// earlier events.
//
// The records are copied as they are in the ring, up to kMostHeldBytes. If there are more, the oldest records of
// gradients are removed first, because these gradients may be freed already, and then the oldest records of modules and
// optimizers. One thread.
#ifndef TRACKER_WRITER_STATE_CURRENT_HOLDINGS_H_
#define TRACKER_WRITER_STATE_CURRENT_HOLDINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracker/writer/events/event_group.h"

namespace memoir {

inline constexpr std::size_t kMostHeldBytes = 4u << 20;

class CurrentHoldings {
 public:
  // Adds an event of the kind kHolds with its tensors.
  void Note(std::uint32_t thread, const EventGroup& group);
  // A copy of one event, which `visit` may change.
  struct Copy {
    EventGroup group;
    RecordHeader* header = nullptr;
    std::vector<TensorRecord*> tensors;
  };
  // Visits modules and optimizers first, and then gradients, each in the order in which they were last recorded. A copy
  // is valid until `visit` returns.
  void ForEach(const std::function<void(Copy&)>& visit) const;

 private:
  using Words = std::vector<std::uint64_t>;  // records, one after the other
  struct Holder {
    // HolderKind, and the number of the module or optimizer, or the address of the parameter.
    std::pair<std::uint8_t, std::uint64_t> key;
    Words words;
  };
  using Order = std::list<Holder>;
  Order& OrderOf(const Holder& holder);
  void Drop(Order::iterator holder);
  void Append(Order::iterator holder, const EventGroup& group);
  void KeepWithinBounds(Order::iterator newest);

  Order holders_, gradients_;  // oldest records first
  std::map<std::pair<std::uint8_t, std::uint64_t>, Order::iterator> by_key_;
  // Key: a thread. Value: the holder to which the thread's next record of the kind kMore belongs.
  std::unordered_map<std::uint32_t, Order::iterator> newest_;
  std::size_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_CURRENT_HOLDINGS_H_
