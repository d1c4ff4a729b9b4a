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
constinit std::atomic<bool> observed{false};  // whether the observer is registered
constinit thread_local std::uint64_t refused_bytes = 0;

// The observer. The simulated device calls it when the memory of a library changes. `id` identifies the memory; `bytes`
// is its new size, and 0 if the memory was freed. If `id` is 0, the device has refused `bytes` to the library.
void OnLibraryMemory(int device, const char* library, unsigned long long id, unsigned long long bytes) {
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
  reinterpret_cast<void (*)(Observer)>(const_cast<void*>(observe))(&OnLibraryMemory);
}

}  // namespace memoir
