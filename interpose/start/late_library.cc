#include "interpose/start/late_library.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "interpose/cuda/look_ups.h"
#include "interpose/imports/import_slots.h"
#include "interpose/imports/loader_list_guard.h"
#include "interpose/start/loaded_library.h"

namespace memoir {
namespace {

using Then = void (*)();
constinit const char* awaited = nullptr;               // beginning of the library's file name
constinit Then on_arrival = nullptr;                   // called once the library is found
constinit std::atomic<bool> has_arrived{false};        // true once the library was found
constinit std::atomic<std::uint64_t> objects_seen{0};  // count of loaded objects when all had dlsym redirected
constinit VisitedObjects seen{};                       // used only while holding a LoaderListGuard
constinit void* hook = nullptr;                        // the replacement for dlsym

bool IsDlsym(const char* function) { return std::strcmp(function, "dlsym") == 0; }
void* ChooseHook(const char*, const void* original) { return original == RealDlsym() ? hook : nullptr; }

// Redirects dlsym in all newly loaded objects, so that their look-ups also call LookForIt. Returns true if the awaited
// library is loaded. Returns false without a check if no object was loaded since the last call that redirected dlsym
// in all objects, or if the guard is not free in time.
bool IsThere(LoaderListGuard::Patience patience) {
  const std::uint64_t objects = CountLoads().loaded;
  if (objects == objects_seen.load(std::memory_order_acquire)) return false;
  const LoaderListGuard turn(patience);
  if (!turn.has_turn()) return false;
  if (RedirectImportsBy(&IsDlsym, &ChooseHook, &seen).left() == 0)
    objects_seen.store(objects, std::memory_order_release);
  LoadedLibrary library;
  return FindLoadedLibrary(awaited, &library);
}

// Called after each successful look-up of the program (WatchLookUps), until the library is found.
void LookForIt() {
  if (!IsThere(LoaderListGuard::Patience::kGivesUp) || has_arrived.exchange(true, std::memory_order_acq_rel)) return;
  WatchLookUps(nullptr);
  on_arrival();
}

}  // namespace

bool AwaitLibrary(const char* name, void (*then)()) {
  hook = DlsymHook(nullptr);
  if (hook == nullptr) return false;
  awaited = name;
  on_arrival = then;
  RegisterLoaderForkWait();
  IsThere(LoaderListGuard::Patience::kWaits);
  WatchLookUps(&LookForIt);
  return true;
}

}  // namespace memoir
