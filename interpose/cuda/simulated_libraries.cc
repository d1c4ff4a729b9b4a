#include "interpose/cuda/simulated_libraries.h"

#include <atomic>
#include <cstdint>

#include "interpose/cuda/driver_blocks.h"
#include "interpose/errno_keeper.h"
#include "interpose/import_slots.h"
#include "interpose/ring.h"

namespace memoir {
namespace {

// interpose/simcuda/api/identity.h has the other side.
using Observer = void (*)(int device, const char* library, unsigned long long id, unsigned long long bytes);
constinit std::atomic<bool> observed{false};
constinit thread_local std::uint64_t refused_bytes = 0;

// `id` holds `bytes` from here on; 0 bytes: it is gone. `id` 0: so many were refused.
void OnCharge(int device, const char* library, unsigned long long id, unsigned long long bytes) {
  if (!RecordingEnabled()) return;
  if (id == 0) {
    refused_bytes = bytes;
    return;
  }
  const ErrnoKeeper errno_keeper;
  BlockLeft(BlockLeaves(id), true);
  if (bytes != 0) BlockGiven({DriverCall::kLibrary, device, id, bytes}, LibraryNamed(library));
}

}  // namespace

std::uint64_t TakeRefusedOfLibraries() {
  const std::uint64_t bytes = refused_bytes;
  refused_bytes = 0;
  return bytes;
}

void ObserveSimulatedLibraries() {
  if (observed.load(std::memory_order_relaxed)) return;
  const void* observe = FindDefinition("memoir_simulated_observe");
  if (observe == nullptr || observed.exchange(true)) return;
  reinterpret_cast<void (*)(Observer)>(const_cast<void*>(observe))(&OnCharge);
}

}  // namespace memoir
