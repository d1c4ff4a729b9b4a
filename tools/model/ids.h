// Strong ids of the model. Each is a dense number from 0, valid for one Capture and the same in every replay of it.
//
// They are capture-wide: names and layouts of several ranks are merged by content; a device or thread of another
// process is another device or thread.
#ifndef TOOLS_MODEL_IDS_H_
#define TOOLS_MODEL_IDS_H_

#include <compare>
#include <cstdint>
#include <utility>

namespace memoir {

template <class Tag>
struct Id {
  std::uint32_t value = kNone;
  static constexpr std::uint32_t kNone = 0xffffffffu;

  bool valid() const { return value != kNone; }
  friend auto operator<=>(Id, Id) = default;
  template <typename H>
  friend H AbslHashValue(H state, Id id) {
    return H::combine(std::move(state), id.value);
  }
};

using ProcessId = Id<struct ProcessTag>;
using DeviceId = Id<struct DeviceTag>;  // of one process: rank 0's cpu is not rank 1's
using ThreadId = Id<struct ThreadTag>;
using NameId = Id<struct NameTag>;
using ModuleId = Id<struct ModuleTag>;
using CodeId = Id<struct CodeTag>;
using StackId = Id<struct StackTag>;
using LayoutId = Id<struct LayoutTag>;
using SchemaId = Id<struct SchemaTag>;
using SignatureId = Id<struct SignatureTag>;

// Ticks of a process's own clock. Compare only inside one process; ReplayState::Nanoseconds makes them comparable.
using Tick = std::uint64_t;

}  // namespace memoir

#endif  // TOOLS_MODEL_IDS_H_
