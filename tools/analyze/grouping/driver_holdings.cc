#include "tools/analyze/grouping/driver_holdings.h"

namespace memoir {
namespace {

// Returns true if the memory that `library` allocated with `call` certainly resides on the device, and is not part of
// torch's memory. Memory that torch allocates from cudaMallocAsync's pools is torch's memory.
bool IsOutside(v1::DriverCall call, std::string_view library) {
  const DriverRole role = RoleOf(call, library);
  if (role == DriverRole::kMemoryPool) return RoleOf(v1::MALLOC, library) != DriverRole::kTorchAllocator;
  switch (role) {
    case DriverRole::kNccl:
    case DriverRole::kLibrary:
    case DriverRole::kContext:
    case DriverRole::kCode:
    case DriverRole::kForeign:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<HoldingRow> HoldingsOutsideTorch(const ReplayState& state, DeviceId device) {
  Holdings::ByName by_name;
  for (const auto& [who, held] : state.driver().totals()) {
    const std::string_view library = state.dictionary().text(who.library);
    if (who.device != device || !IsOutside(who.call, library)) continue;
    HoldingRow& holder = by_name[HolderName(RoleOf(who.call, library), library)];
    holder.bytes += held.bytes;
    holder.blocks += held.blocks;
  }
  for (auto& [name, holder] : by_name) holder.name = name;
  return Sorted(by_name);
}

std::vector<HoldingRow> PinnedHoldings(const ReplayState& state) {
  Holdings::ByName by_name;
  for (const auto& [who, held] : state.driver().totals()) {
    const DriverRole role = RoleOf(who.call, "");
    if (role != DriverRole::kPinned && role != DriverRole::kRegistered) continue;
    const std::string name = HolderName(role, state.dictionary().text(who.library));
    HoldingRow& holder = by_name[name];
    holder.name = name;
    holder.bytes += held.bytes;
    holder.blocks += held.blocks;
  }
  return Sorted(by_name);
}

std::uint64_t BytesOutsideTorch(const ReplayState& state, DeviceId device) {
  std::uint64_t bytes = 0;
  for (const auto& [who, held] : state.driver().totals()) {
    if (who.device == device && IsOutside(who.call, state.dictionary().text(who.library))) bytes += held.bytes;
  }
  return bytes;
}

}  // namespace memoir
