#include "interpose/cuda/driver_watch.h"

#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "interpose/cuda/block_table.h"
#include "interpose/cuda/caller_names.h"
#include "interpose/cuda/context_watch.h"
#include "interpose/cuda/device_readings.h"
#include "interpose/cuda/driver_questions.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/look_ups.h"
#include "interpose/cuda/management.h"
#include "interpose/cuda/physical_memory.h"
#include "interpose/cuda/reading_thread.h"
#include "interpose/cuda/simulated_libraries.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/errno_keeper.h"
#include "interpose/import_slots.h"
#include "interpose/lifecycle.h"
#include "interpose/loader_look.h"
#include "interpose/tick.h"

namespace memoir {
namespace {

constinit std::atomic<bool> watching{false};
constinit std::atomic<std::uint64_t> objects_seen{0};  // loaded when all of their slots were redirected
constinit std::atomic<std::uint64_t> unloads_seen{0};
// Of whoever has a turn at the loader.
constinit SeenObjects seen{};
constinit void* dlsym_hook = nullptr;
constinit std::atomic<bool> undecided{false};     // some slots are lazy yet, and who they are for is not known
constinit std::atomic<std::uint32_t> refused{0};  // slots, at the last look
constinit std::atomic<std::uint64_t> refused_since{0};
constinit unsigned pause = 0, left = 0;  // the writer's looks to let pass while it is; and how many are to come

bool IsWanted(const char* function) { return std::strcmp(function, "dlsym") == 0 || IsWrappedName(function); }

void* ChooseSlot(const char* function, const void* original) {
  if (std::strcmp(function, "dlsym") == 0) return original == RealDlsym() ? dlsym_hook : nullptr;
  return WrapperFor(function, const_cast<void*>(original));
}

// A forked child has no ring before it records itself.
bool IsWatching() { return watching.load(std::memory_order_acquire) && OpenRing() != nullptr; }

void NoteRefused(std::size_t slots) {
  if (slots != 0 && refused_since.load(std::memory_order_relaxed) == 0)
    refused_since.store(Tick(), std::memory_order_relaxed);
  refused.store(static_cast<std::uint32_t>(slots), std::memory_order_release);
}

// Takes the turn's caller through all objects that are new.
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

void LookIfNew(LoaderLook::Patience patience) {
  const LoaderCounts loads = CountLoads();
  const LoaderCounts known{objects_seen.load(std::memory_order_acquire), unloads_seen.load(std::memory_order_acquire)};
  if (loads == known) return;
  FindCudaFunctions();
  const LoaderLook turn(patience);
  if (turn.has_turn()) Look(loads);
}

// Whoever looks a function up of a library that was just loaded is about to call it.
void AfterLookUp() {
  if (IsWatching()) LookIfNew(LoaderLook::Patience::kGivesUp);
}

// Lazy slots are filled by their first call, which nobody tells of: they are looked at ever less.
void LookAtUndecided() {
  constexpr unsigned kLongestPause = 255;
  if (!undecided.load(std::memory_order_relaxed)) {
    pause = left = 0;
  } else if (left > 0) {
    --left;
  } else {
    left = pause;
    pause = pause < kLongestPause ? pause * 2 + 1 : pause;
    const LoaderLook turn(LoaderLook::Patience::kWaits);
    Look(CountLoads());
  }
}

bool HasCuda() { return FindDefinition("cudaMalloc") != nullptr || FindDefinition("cuInit") != nullptr; }

}  // namespace

void WatchDriver(bool launches) {
  const ErrnoKeeper errno_keeper;
  LetForksWaitForLooks();
  watching.store(ClearBlockTable(), std::memory_order_release);
  ForgetPhysicalMemory();
  ForgetDevices();
  ForgetContexts();
  ForgetCudaFunctions();
  ForgetReadingThread();
  ForgetKernelNames();
  {
    const LoaderLook turn(LoaderLook::Patience::kWaits);
    if (launches && !LaunchesAreWrapped()) seen.count = 0;  // in objects that were seen, theirs are not redirected
    WrapLaunches(launches);
    if (dlsym_hook == nullptr) {
      dlsym_hook = DlsymHook(&AfterLookUp);
      UseLoader(reinterpret_cast<void* (*)(const char*, int)>(const_cast<void*>(FindImported("dlopen"))),
                reinterpret_cast<void* (*)(void*, const char*)>(FindRealDlsym()));
    }
    Look(CountLoads());
  }
  WrapLookUps(IsWatching());
  if (HasCuda()) LoadManagement();
}

void LookAtDriver() {
  if (!IsWatching()) return;
  LookIfNew(LoaderLook::Patience::kWaits);
  LookAtUndecided();
  ReadRegularly();
}

void ReadDevicesLast() {
  const ErrnoKeeper errno_keeper;
  if (!IsWatching()) return;
  FindCudaFunctions();
  ReadLast();
}

bool CudaIsInUse() { return HasSeenContext(); }

void LeaveDriver() {
  WrapLookUps(false);
  watching.store(false, std::memory_order_release);
  ForgetReadingThread();
}

PassedCalls CountPassedCalls() {
  const PassedNames passed = CountPassedNames();
  PassedCalls calls{passed.names, passed.first, refused.load(std::memory_order_acquire), passed.since_tick};
  if (calls.refused != 0 && calls.since_tick == 0) calls.since_tick = refused_since.load(std::memory_order_relaxed);
  return calls;
}

}  // namespace memoir
