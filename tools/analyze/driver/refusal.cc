#include "tools/analyze/driver/refusal.h"

#include "tools/analyze/driver/driver_role.h"

namespace memoir {
namespace {

constexpr std::uint32_t kCudaOutOfMemory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
constexpr std::uint32_t kNcclUnhandledCudaError = 1;
constexpr std::uint32_t kNcclSystemError = 2;  // lack of host memory, or a network error

bool IsForWantOfMemory(const DriverRefusedEvent& event) {
  switch (event.asked->call) {
    case v1::HANDLE:
      return true;  // a library creates its handle when the library is first used, before other errors can occur
    case v1::COMMUNICATOR:
      return event.error == kNcclUnhandledCudaError || event.error == kNcclSystemError;
    default:
      return event.error == kCudaOutOfMemory;
  }
}

}  // namespace

bool IsOutOfMemory(const ReplayState& state, const DriverRefusedEvent& event) {
  const DriverBlock& asked = *event.asked;
  const DriverRole role = RoleOf(asked.call, state.dictionary().text(asked.library));
  if (role == DriverRole::kTorchAllocator && state.memory(asked.device).caching()) return false;
  return IsForWantOfMemory(event);
}

Refusal RefusalOf(const ReplayState& state, const DriverRefusedEvent& event) {
  const DriverBlock& asked = *event.asked;
  Refusal refusal;
  refusal.library = HolderName(DriverRole::kForeign, state.dictionary().text(asked.library));
  refusal.call = asked.call;
  refusal.error = event.error;
  refusal.of_host = asked.call == v1::HOST_ALLOCATE || asked.call == v1::HOST_REGISTER;
  return refusal;
}

}  // namespace memoir
