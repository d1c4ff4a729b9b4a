// Ids of processes, devices, threads, names and so on, with a separate type for each kind. The ids of each kind count
// from 0 without gaps. A ProcessId is an index in Capture::processes(). A replay assigns all other ids in the order in
// which it first meets their objects. So two replays of a Capture with equal ReplayOptions assign the same ids.
//
// Names and layouts with equal content have the same id in all processes. Devices and threads of different processes
// have different ids.
#ifndef TOOLS_MODEL_EVENT_IDS_H_
#define TOOLS_MODEL_EVENT_IDS_H_

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
using DeviceId = Id<struct DeviceTag>;  // a device of one process: rank 0's cpu is not rank 1's cpu
using ThreadId = Id<struct ThreadTag>;
using NameId = Id<struct NameTag>;
using ModuleId = Id<struct ModuleTag>;
using CodeId = Id<struct CodeTag>;
using StackId = Id<struct StackTag>;
using LayoutId = Id<struct LayoutTag>;
using SchemaId = Id<struct SchemaTag>;
using SignatureId = Id<struct SignatureTag>;

// Ticks of a process's clock. Ticks of different processes cannot be compared; ReplayState::Nanoseconds converts them.
using Tick = std::uint64_t;

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_IDS_H_
