#include "interpose/cuda/driver_watch.h"

#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "interpose/cuda/block_table.h"
#include "interpose/cuda/caller_names.h"
#include "interpose/cuda/context_watch.h"
#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/look_ups.h"
#include "interpose/cuda/nvml_queries.h"
#include "interpose/cuda/physical_memory.h"
#include "interpose/cuda/sampling_thread.h"
#include "interpose/cuda/simulated_libraries.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/imports/import_slots.h"
#include "interpose/imports/loader_list_guard.h"
#include "interpose/ring/process_ring.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constinit std::atomic<bool> watching{false};
constinit std::atomic<std::uint64_t> objects_seen{0};  // count of loaded objects when all slots were redirected
constinit std::atomic<std::uint64_t> unloads_seen{0};  // count of unloaded objects at the newest call of Look
// The next two variables are used only while holding a LoaderListGuard.
constinit VisitedObjects seen{};
constinit void* dlsym_hook = nullptr;                   // the replacement for dlsym
constinit std::atomic<bool> undecided{false};           // some slots have no known target, or could not be changed
constinit std::atomic<std::uint32_t> refused{0};        // slots that the newest call of Look could not change
constinit std::atomic<std::uint64_t> refused_since{0};  // tick at which Look first could not change a slot; 0: never
constinit unsigned pause = 0;  // number of calls of LookAtUndecided without a call of Look, between two that call Look
constinit unsigned left = 0;   // number of these calls until the next call of Look

bool IsWanted(const char* function) { return std::strcmp(function, "dlsym") == 0 || IsWrappedName(function); }

void* ChooseSlot(const char* function, const void* original) {
  if (std::strcmp(function, "dlsym") == 0) return original == RealDlsym() ? dlsym_hook : nullptr;
  return WrapperFor(function, const_cast<void*>(original));
}

// A forked child has no ring until it starts a recording itself.
bool IsWatching() { return watching.load(std::memory_order_acquire) && OpenRing() != nullptr; }

void NoteRefused(std::size_t slots) {
  if (slots != 0 && refused_since.load(std::memory_order_relaxed) == 0)
    refused_since.store(Tick(), std::memory_order_relaxed);
  refused.store(static_cast<std::uint32_t>(slots), std::memory_order_release);
}

// Redirects the import slots of all new objects, and looks up the driver's functions again. The caller holds a
// LoaderListGuard.
void Look(const LoaderCounts& loads) {
  FindCudaFunctions();
  const ChoiceCounts counts = RedirectImportsBy(&IsWanted, &ChooseSlot, &seen);
  ForgetCallersOfUnloaded(seen.unloaded);
  ObserveSimulatedLibraries();
  undecided.store(counts.undecided + counts.refused != 0, std::memory_order_relaxed);
  NoteRefused(counts.refused);
  unloads_seen.store(loads.unloaded, std::memory_order_release);
  if (counts.loading == 0) objects_seen.store(loads.loaded, std::memory_order_release);
}

// Calls Look if objects were loaded or unloaded since the last call of Look, and if the guard is free in time.
void LookIfNew(LoaderListGuard::Patience patience) {
  const LoaderCounts loads = CountLoads();
  const LoaderCounts known{objects_seen.load(std::memory_order_acquire), unloads_seen.load(std::memory_order_acquire)};
  if (loads == known) return;
  FindCudaFunctions();
  const LoaderListGuard turn(patience);
  if (turn.has_turn()) Look(loads);
}

// A program that looks up a function of a newly loaded library will soon call functions of this library, so its slots
// are redirected now.
void AfterLookUp() {
  if (IsWatching()) LookIfNew(LoaderListGuard::Patience::kGivesUp);
}

// The loader fills a lazy slot at the first call through it, and Memoir does not notice that call. So this function
// redirects lazy slots later: while such slots exist, it calls Look at growing intervals.
void LookAtUndecided() {
  constexpr unsigned kLongestPause = 255;
  if (!undecided.load(std::memory_order_relaxed)) {
    pause = left = 0;
  } else if (left > 0) {
    --left;
  } else {
    left = pause;
    pause = pause < kLongestPause ? pause * 2 + 1 : pause;
    const LoaderListGuard turn(LoaderListGuard::Patience::kWaits);
    Look(CountLoads());
  }
}

bool HasCuda() { return FindDefinition("cudaMalloc") != nullptr || FindDefinition("cuInit") != nullptr; }

}  // namespace

void WatchDriver(bool launches) {
  const ErrnoKeeper errno_keeper;
  RegisterLoaderForkWait();
  watching.store(ClearBlockTable(), std::memory_order_release);
  ForgetPhysicalMemory();
  ForgetDevices();
  ForgetContexts();
  ForgetCudaFunctions();
  ForgetSamplingThread();
  ForgetKernelNames();
  {
    const LoaderListGuard turn(LoaderListGuard::Patience::kWaits);
    // Makes Look visit all objects again, for the slots of launches.
    if (launches && !LaunchesAreWrapped()) seen.count = 0;
    WrapLaunches(launches);
    if (dlsym_hook == nullptr) {
      dlsym_hook = DlsymHook(&AfterLookUp);
      SetLoader(reinterpret_cast<void* (*)(const char*, int)>(const_cast<void*>(FindImported("dlopen"))),
                reinterpret_cast<void* (*)(void*, const char*)>(FindRealDlsym()));
    }
    Look(CountLoads());
  }
  WrapLookUps(IsWatching());
  if (HasCuda()) LoadNvml();
}

void WrapNewObjects() {
  if (!IsWatching()) return;
  LookIfNew(LoaderListGuard::Patience::kWaits);
  LookAtUndecided();
  RequestDueSamples();
}

void ReadDevicesLast() {
  const ErrnoKeeper errno_keeper;
  if (!IsWatching()) return;
  FindCudaFunctions();
  TakeFinalSamples();
}

bool CudaIsInUse() { return HasSeenContext(); }

void StopWatchingDriver() {
  WrapLookUps(false);
  watching.store(false, std::memory_order_release);
  ForgetSamplingThread();
}

UnwrappedCalls CountUnwrappedCalls() {
  const UnwrappedNames passed = CountUnwrappedNames();
  UnwrappedCalls calls{passed.names, passed.first, refused.load(std::memory_order_acquire), passed.since_tick};
  if (calls.refused != 0 && calls.since_tick == 0) calls.since_tick = refused_since.load(std::memory_order_relaxed);
  return calls;
}

}  // namespace memoir
