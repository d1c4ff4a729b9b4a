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

// `id` holds `bytes` from here on; 0: it is gone.
void OnCharge(int device, const char* library, unsigned long long id, unsigned long long bytes) {
  if (!RecordingEnabled()) return;
  const ErrnoKeeper errno_keeper;
  BlockLeft(BlockLeaves(id), true);
  if (bytes != 0) BlockGiven({DriverCall::kLibrary, device, id, bytes}, LibraryNamed(library));
}

}  // namespace

void ObserveSimulatedLibraries() {
  if (observed.load(std::memory_order_relaxed)) return;
  const void* observe = FindDefinition("memoir_simulated_observe");
  if (observe == nullptr || observed.exchange(true)) return;
  reinterpret_cast<void (*)(Observer)>(const_cast<void*>(observe))(&OnCharge);
}

}  // namespace memoir
