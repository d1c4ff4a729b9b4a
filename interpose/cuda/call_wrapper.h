// Makes wrappers of functions of NVIDIA's libraries. A handler is a function that receives the original function and
// the call's arguments. Each handler becomes kWrapperVariants wrappers with the signature of the original. A process
// may contain several libraries that define the same name (cudart may be linked statically), and a look-up may return
// any of them; each variant calls exactly one definition.
//
//     int GiveBlock(const CallSite&, int (*original)(void**, size_t), void** pointer, size_t bytes);
//     constexpr WrappedCall kCalls[] = {Wrapped<"cudaMalloc", &GiveBlock>()};
//
// This code needs no library except libc. Wrappers run on any thread, under any lock that their callers hold.
#ifndef INTERPOSE_CUDA_CALL_WRAPPER_H_
#define INTERPOSE_CUDA_CALL_WRAPPER_H_

#include <atomic>
#include <cstddef>

#include "interpose/ring/ring.h"

namespace memoir {

inline constexpr int kWrapperVariants = 4;

struct WrappedCall {
  const char* name;
  // An array of kWrapperVariants + 1 elements. Element n is the definition that variant n calls; nullptr if the variant
  // is unused. The last element is the first definition that found no unused variant; nullptr if every definition has a
  // variant.
  std::atomic<const void*>* originals;
  const void* (*wrapper)(int variant);  // returns the wrapper of a variant
};

// The call for which a handler runs. A handler whose first parameter has this type is called only while recording is
// on.
struct CallSite {
  const char* name;
  const void* function;  // the original function
  const void* code;      // the return address of the call
};
// A handler whose first parameter has this type is called whether recording is on or off. It is used for look-ups,
// because the program may call the returned function later, when recording is on, and for calls of CUPTI
// (profiler_calls.h).
struct LookUpTag {};

// WrappedCall::originals of the function to which `Tag` belongs (CallTag).
template <class Tag>
constinit inline std::atomic<const void*> originals_of[kWrapperVariants + 1]{};

// The wrapper of one variant: the function `Call`. It has the signature of the original, because the compiler derives
// the parameters of `Call` from the parameters of the handler.
template <class Tag, int kVariant, auto kHandler>
struct Wrapper;

template <class Tag, int kVariant, class... A, int (*kHandler)(const CallSite&, int (*)(A...), A...)>
struct Wrapper<Tag, kVariant, kHandler> {
  static int Call(A... arguments) {
    const void* function = originals_of<Tag>[kVariant].load(std::memory_order_acquire);
    const auto original = reinterpret_cast<int (*)(A...)>(const_cast<void*>(function));
    if (!RecordingEnabled()) return original(arguments...);
    return kHandler({Tag::kName, function, __builtin_return_address(0)}, original, arguments...);
  }
};

template <class Tag, int kVariant, class... A, int (*kHandler)(const LookUpTag&, int (*)(A...), A...)>
struct Wrapper<Tag, kVariant, kHandler> {
  static int Call(A... arguments) {
    const void* function = originals_of<Tag>[kVariant].load(std::memory_order_acquire);
    return kHandler({}, reinterpret_cast<int (*)(A...)>(const_cast<void*>(function)), arguments...);
  }
};

template <class Tag, auto kHandler>
const void* WrapperOf(int variant) {
  static_assert(kWrapperVariants == 4);
  switch (variant) {
    case 0:
      return reinterpret_cast<const void*>(&Wrapper<Tag, 0, kHandler>::Call);
    case 1:
      return reinterpret_cast<const void*>(&Wrapper<Tag, 1, kHandler>::Call);
    case 2:
      return reinterpret_cast<const void*>(&Wrapper<Tag, 2, kHandler>::Call);
    default:
      return reinterpret_cast<const void*>(&Wrapper<Tag, 3, kHandler>::Call);
  }
}

// A string that can be a template argument.
template <std::size_t kLength>
struct CallName {
  char text[kLength];
  // NOLINTNEXTLINE(misc-explicit-constructor): string literals convert to this type
  constexpr CallName(const char (&name)[kLength]) {
    for (std::size_t i = 0; i < kLength; ++i) text[i] = name[i];
  }
};
// A separate type for the name of each wrapped function.
template <CallName kText>
struct CallTag {
  static constexpr const char* kName = kText.text;
};

// Returns the WrappedCall of the function `kName`, whose wrappers call `kHandler`.
template <CallName kName, auto kHandler>
constexpr WrappedCall Wrapped() {
  return {CallTag<kName>::kName, originals_of<CallTag<kName>>, &WrapperOf<CallTag<kName>, kHandler>};
}

// Exists during a call that allocates memory, frees memory, or loads or unloads code. Converts to true if no other such
// call is open on the thread: cudaMalloc calls cuMemAlloc, and only cudaMalloc is recorded. Converts to false also
// during Memoir's own work (own_work.h).
class OutermostDriverCall {
 public:
  OutermostDriverCall();
  ~OutermostDriverCall();
  OutermostDriverCall(const OutermostDriverCall&) = delete;
  OutermostDriverCall& operator=(const OutermostDriverCall&) = delete;
  explicit operator bool() const { return outermost_; }

 private:
  const bool outermost_;
};

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CALL_WRAPPER_H_
