#include "interpose/imports/parallel_regions.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "interpose/imports/import_slots.h"
#include "interpose/imports/loader_list_guard.h"
#include "interpose/ring/ring.h"
#include "interpose/ring/thread_slots.h"

namespace memoir {
namespace {

using Body = void (*)(void*);
using Parallel = void (*)(Body, void*, unsigned threads, unsigned flags);

constexpr const char* kParallel = "GOMP_parallel";
// The number of copies of libgomp that are followed. A process may load several copies, because many wheels contain
// one. Regions of further copies are not followed.
constexpr std::size_t kVariants = 4;

constinit std::array<std::atomic<Parallel>, kVariants> originals{};
constinit std::atomic<bool> following{false};

// The two variables below are used only while holding a LoaderListGuard.
constinit VisitedObjects seen{};
constinit LoaderCounts redirected_at{};  // counts when the calls in all loaded objects were redirected

// A parallel region that has begun: the function that each of its threads runs, the argument of this function, and the
// number of the thread that began the region.
struct Region {
  Body body;
  void* data;
  std::uint32_t owner;  // 0: the owner has recorded nothing
};

// Returns the calling thread's slot in the open ring. Does not claim a slot: nullptr if the thread has not recorded
// yet.
ThreadSlot* SlotOfThread() {
  ThreadSlot* slot = memoir_thread_slot;
  return slot != nullptr && slot->generation == RecordingGeneration() ? slot : nullptr;
}

// Runs on each thread of a region: notes the thread that this thread works for, and calls the region's function.
void RunPart(void* given) {
  const Region& region = *static_cast<const Region*>(given);
  ThreadSlot* slot = SlotOfThread();
  const bool is_owner = slot != nullptr && slot->thread == region.owner;
  if (!is_owner) {
    thread_works_for = region.owner;
    if (slot != nullptr) slot->works_for.store(region.owner, std::memory_order_relaxed);
  }
  region.body(region.data);
}

// The wrapper of GOMP_parallel. Each copy of libgomp has a separate wrapper, which calls this copy.
template <std::size_t kVariant>
void BeginRegion(Body body, void* data, unsigned threads, unsigned flags) {
  const Parallel original = originals[kVariant].load(std::memory_order_acquire);
  const ThreadSlot* slot = SlotOfThread();
  Region region{body, data, slot == nullptr ? 0 : slot->thread};
  original(&RunPart, &region, threads, flags);
}

template <std::size_t... kVariant>
constexpr std::array<Parallel, kVariants> MakeWrappers(std::index_sequence<kVariant...>) {
  return {&BeginRegion<kVariant>...};
}
constexpr std::array<Parallel, kVariants> kWrappers = MakeWrappers(std::make_index_sequence<kVariants>());

bool IsParallel(const char* function) { return std::strcmp(function, kParallel) == 0; }

// Returns the wrapper that calls `function`. nullptr if `function` is itself a wrapper, or if no wrapper is left.
void* WrapperOf(const char*, const void* function) {
  const auto original = reinterpret_cast<Parallel>(const_cast<void*>(function));
  for (std::size_t i = 0; i < kVariants; ++i) {
    if (original == kWrappers[i]) return nullptr;
    Parallel present = nullptr;
    if (originals[i].compare_exchange_strong(present, original, std::memory_order_acq_rel) || present == original)
      return reinterpret_cast<void*>(kWrappers[i]);
  }
  return nullptr;
}

}  // namespace

void FollowParallelRegions() {
  RegisterLoaderForkWait();
  following.store(true, std::memory_order_release);
  FollowParallelRegionsOfLateObjects();
}

void FollowParallelRegionsOfLateObjects() {
  if (!following.load(std::memory_order_acquire)) return;
  const LoaderListGuard turn(LoaderListGuard::Patience::kWaits);
  const LoaderCounts loads = CountLoads();
  if (loads == redirected_at) return;
  if (RedirectImportsBy(&IsParallel, &WrapperOf, &seen).loading == 0) redirected_at = loads;
}

}  // namespace memoir
