#include "interpose/cuda/wrapped_calls.h"

#include <cstring>

#include "interpose/system/own_work.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constinit thread_local int calls_open = 0;  // number of OutermostDriverCall objects on this thread

constinit std::atomic<bool> launches_are_wrapped{false};

// Returns the first call in the tables that `is_wanted` accepts. Searches the table of launches only if `launches` is
// true. nullptr if `is_wanted` accepts no call.
template <class Wanted>
const WrappedCall* FindCall(bool launches, Wanted is_wanted) {
  const std::span<const WrappedCall> tables[] = {
      MemoryCalls(), ContextCalls(),   MappingCalls(),
      CodeCalls(),   RefusableCalls(), WorkCalls(),
      LookUpCalls(), ProfilerCalls(),  launches ? LaunchCalls() : std::span<const WrappedCall>()};
  for (const auto& table : tables) {
    for (const WrappedCall& call : table) {
      if (is_wanted(call)) return &call;
    }
  }
  return nullptr;
}

// The fields of UnwrappedNames.
constinit std::atomic<std::uint32_t> names_passed{0};
constinit std::atomic<const char*> first_passed{nullptr};
constinit std::atomic<std::uint64_t> passed_since{0};

// Counts a name that has more definitions than variants. Counts each name once.
void CountPassed(const WrappedCall& call, const void* function) {
  const void* none = nullptr;
  if (!call.originals[kWrapperVariants].compare_exchange_strong(none, function, std::memory_order_acq_rel)) return;
  const char* no_name = nullptr;
  if (first_passed.compare_exchange_strong(no_name, call.name, std::memory_order_relaxed))
    passed_since.store(Tick(), std::memory_order_relaxed);
  names_passed.fetch_add(1, std::memory_order_release);
}

bool IsWrapper(const void* function) {
  return FindCall(true, [&](const WrappedCall& call) {
           for (int i = 0; i < kWrapperVariants; ++i) {
             if (call.wrapper(i) == function) return true;
           }
           return false;
         }) != nullptr;
}

// Returns the wrapper for `function`, a definition of `call`, or `function` itself (WrapperFor).
void* VariantOf(const WrappedCall* call, void* function) {
  if (call == nullptr || function == nullptr || IsWrapper(function)) return function;
  for (int i = 0; i < kWrapperVariants; ++i) {
    const void* present = nullptr;
    if (call->originals[i].compare_exchange_strong(present, function, std::memory_order_acq_rel) ||
        present == function)
      return const_cast<void*>(call->wrapper(i));
  }
  CountPassed(*call, function);
  return function;
}

// Whether the name begins like one of the wrapped functions. Rejects most other names without a search of the tables.
bool HasPrefix(const char* name) {
  return std::strncmp(name, "cu", 2) == 0 || std::strncmp(name, "nccl", 4) == 0 || std::strncmp(name, "__cuda", 6) == 0;
}

const WrappedCall* CallNamed(const char* name) {
  if (!HasPrefix(name)) return nullptr;
  return FindCall(LaunchesAreWrapped(), [&](const WrappedCall& call) { return std::strcmp(call.name, name) == 0; });
}

}  // namespace

OutermostDriverCall::OutermostDriverCall() : outermost_(calls_open++ == 0 && memoir_own_work == 0) {}
OutermostDriverCall::~OutermostDriverCall() { --calls_open; }

UnwrappedNames CountUnwrappedNames() {
  const std::uint32_t names = names_passed.load(std::memory_order_acquire);
  return {names, first_passed.load(std::memory_order_relaxed), passed_since.load(std::memory_order_relaxed)};
}

void WrapLaunches(bool wrapped) { launches_are_wrapped.store(wrapped, std::memory_order_release); }
bool LaunchesAreWrapped() { return launches_are_wrapped.load(std::memory_order_acquire); }

bool IsWrappedName(const char* name) { return CallNamed(name) != nullptr; }

void* WrapperFor(const char* name, void* function) { return VariantOf(CallNamed(name), function); }

// The look-up may have found the function for the legacy default stream or for the default stream of each thread
// (_ptsz). Both have the same parameters, so the wrapper of the first matching name fits both. The tables contain one
// version of each such function, with or without the suffix _v2.
void* WrapperForShortName(const char* name, void* function) {
  const std::size_t length = std::strlen(name);
  return VariantOf(FindCall(LaunchesAreWrapped(),
                            [&](const WrappedCall& call) {
                              if (std::strncmp(call.name, name, length) != 0) return false;
                              const char* rest = call.name + length;
                              return *rest == '\0' || std::strcmp(rest, "_v2") == 0;
                            }),
                   function);
}

}  // namespace memoir
