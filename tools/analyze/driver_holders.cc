#include "tools/analyze/driver_holders.h"

#include <algorithm>
#include <array>

namespace memoir {
namespace {

// What comes with CUDA and takes device memory for itself.
constexpr std::array kNvidiaLibraries = {
    std::string_view("libcublas"),   std::string_view("libcudnn"),    std::string_view("libcufft"),
    std::string_view("libcusolver"), std::string_view("libcusparse"), std::string_view("libcurand"),
    std::string_view("libcutensor"), std::string_view("libnvshmem"),  std::string_view("libcudart"),
    std::string_view("libcuda.so"),  std::string_view("libcufile"),   std::string_view("libnpp"),
    std::string_view("libnvjpeg"),   std::string_view("libcudss")};

DriverRole RoleOfLibrary(std::string_view library) {
  if (library.starts_with("libc10_cuda")) return DriverRole::kTorchAllocator;
  if (library.starts_with("libnccl")) return DriverRole::kNccl;
  const bool nvidia =
      std::ranges::any_of(kNvidiaLibraries, [&](std::string_view one) { return library.starts_with(one); });
  return nvidia ? DriverRole::kLibrary : DriverRole::kForeign;
}

// Whether what such a caller has lies on the device for certain, and no one else's figure has it. What torch takes from
// cudaMallocAsync's pools is torch's.
bool IsOutside(v1::DriverCall call, std::string_view library) {
  const DriverRole role = RoleOf(call, library);
  if (role == DriverRole::kMemoryPool) return RoleOfLibrary(library) != DriverRole::kTorchAllocator;
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

DriverRole RoleOf(v1::DriverCall call, std::string_view library) {
  switch (call) {
    case v1::MALLOC_ASYNC:
      return DriverRole::kMemoryPool;
    case v1::MALLOC_MANAGED:
      return DriverRole::kManaged;
    case v1::HOST_ALLOCATE:
      return DriverRole::kPinned;
    case v1::HOST_REGISTER:
      return DriverRole::kRegistered;
    case v1::IPC_OPEN:
      return DriverRole::kOfAnother;
    case v1::CONTEXT:
      return DriverRole::kContext;
    case v1::MODULE_LOAD:
      return DriverRole::kCode;
    default:
      return RoleOfLibrary(library);
  }
}

std::string HolderName(DriverRole role, std::string_view library) {
  if (role == DriverRole::kContext) return "context";
  if (role == DriverRole::kCode) return "loaded code";
  if (library.empty()) return "(unknown caller)";
  const DriverRole of_library = RoleOfLibrary(library);
  if (of_library == DriverRole::kNccl) return "NCCL";
  if (of_library == DriverRole::kLibrary) return std::string(library.substr(0, library.find(".so")));
  return std::string(library);
}

std::vector<Holder> OutsideTorch(const ReplayState& state, DeviceId device) {
  Holdings::ByName by_name;
  for (const auto& [who, held] : state.driver().held()) {
    const std::string_view library = state.dictionary().text(who.library);
    if (who.device != device || !IsOutside(who.call, library)) continue;
    Holder& holder = by_name[HolderName(RoleOf(who.call, library), library)];
    holder.bytes += held.bytes;
    holder.blocks += held.blocks;
  }
  for (auto& [name, holder] : by_name) holder.name = name;
  return Sorted(by_name);
}

std::vector<Holder> PinnedBy(const ReplayState& state) {
  Holdings::ByName by_name;
  for (const auto& [who, held] : state.driver().held()) {
    const DriverRole role = RoleOf(who.call, "");
    if (role != DriverRole::kPinned && role != DriverRole::kRegistered) continue;
    const std::string name = HolderName(role, state.dictionary().text(who.library));
    Holder& holder = by_name[name];
    holder.name = name;
    holder.bytes += held.bytes;
    holder.blocks += held.blocks;
  }
  return Sorted(by_name);
}

std::uint64_t OutsideTorchBytes(const ReplayState& state, DeviceId device) {
  std::uint64_t bytes = 0;
  for (const auto& [who, held] : state.driver().held()) {
    if (who.device == device && IsOutside(who.call, state.dictionary().text(who.library))) bytes += held.bytes;
  }
  return bytes;
}

}  // namespace memoir
