#include "interpose/cuda/simulated_libraries.h"

#include <atomic>
#include <cstdint>

#include "interpose/cuda/driver_blocks.h"
#include "interpose/imports/import_slots.h"
#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// The type is declared in simcuda/api/simulation_queries.h.
using Observer = void (*)(int device, const char* library, unsigned long long id, unsigned long long bytes);
constinit std::atomic<bool> observed{false};
constinit thread_local std::uint64_t refused_bytes = 0;

// Called when the charge `id` changes to `bytes`; 0 bytes end the charge. If `id` is 0, a charge of `bytes` was
// refused.
void OnCharge(int device, const char* library, unsigned long long id, unsigned long long bytes) {
  if (!RecordingEnabled()) return;
  if (id == 0) {
    refused_bytes = bytes;
    return;
  }
  const ErrnoKeeper errno_keeper;
  EndBlockFree(BeginBlockFree(id), true);
  if (bytes != 0) NoteBlockAllocated({DriverCall::kLibrary, device, id, bytes}, LibraryNamed(library));
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
