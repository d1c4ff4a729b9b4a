#include "tools/analyze/driver/driver_role.h"

#include <algorithm>
#include <array>

namespace memoir {
namespace {

// NVIDIA's libraries that allocate device memory for their own use.
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
  if (of_library == DriverRole::kNccl) return std::string(kNcclName);
  if (of_library == DriverRole::kLibrary) return std::string(library.substr(0, library.find(".so")));
  return std::string(library);
}

}  // namespace memoir
