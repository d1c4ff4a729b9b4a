// How a function of NVIDIA's libraries is wrapped: from a handler, a function that takes what it wraps and its
// arguments, come a few wrappers of the same signature. A process may hold several libraries that define a name (cudart
// is linked statically, too), and a look-up may return any of them: each variant calls exactly the one it stands for.
//
//     int GiveBlock(const Called&, int (*original)(void**, size_t), void** pointer, size_t bytes);
//     constexpr WrappedCall kCalls[] = {Wrapped<"cudaMalloc", &GiveBlock>()};
//
// libc only. Wrappers run on any thread, under any lock of their callers'.
#ifndef INTERPOSE_CUDA_CALL_WRAPPER_H_
#define INTERPOSE_CUDA_CALL_WRAPPER_H_

#include <atomic>
#include <cstddef>

#include "interpose/ring.h"

namespace memoir {

inline constexpr int kWrapperVariants = 4;

struct WrappedCall {
  const char* name;
  // Of each variant, nullptr: it stands for nothing yet; and last the first definition for which there was none left.
  std::atomic<const void*>* originals;
  const void* (*wrapper)(int variant);
};

// What a handler is told beside the arguments. It is called while something is recorded.
struct Called {
  const char* name;
  const void* function;  // what the program would have called
  const void* code;      // where it called from
};
// Of a handler that is always called, recorded or not: of look-ups, whose results are called later.
struct LookedUp {};

template <class Tag>
constinit inline std::atomic<const void*> originals_of[kWrapperVariants + 1]{};

template <class Tag, int kVariant, auto kHandler>
struct Wrapper;

template <class Tag, int kVariant, class... A, int (*kHandler)(const Called&, int (*)(A...), A...)>
struct Wrapper<Tag, kVariant, kHandler> {
  static int Call(A... arguments) {
    const void* function = originals_of<Tag>[kVariant].load(std::memory_order_acquire);
    const auto original = reinterpret_cast<int (*)(A...)>(const_cast<void*>(function));
    if (!RecordingEnabled()) return original(arguments...);
    return kHandler({Tag::kName, function, __builtin_return_address(0)}, original, arguments...);
  }
};

template <class Tag, int kVariant, class... A, int (*kHandler)(const LookedUp&, int (*)(A...), A...)>
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

// A name that can stand as a template's argument.
template <std::size_t kLength>
struct CallName {
  char text[kLength];
  // NOLINTNEXTLINE(misc-explicit-constructor): a literal becomes one
  constexpr CallName(const char (&name)[kLength]) {
    for (std::size_t i = 0; i < kLength; ++i) text[i] = name[i];
  }
};
template <CallName kText>
struct CallTag {
  static constexpr const char* kName = kText.text;
};

template <CallName kName, auto kHandler>
constexpr WrappedCall Wrapped() {
  return {CallTag<kName>::kName, originals_of<CallTag<kName>>, &WrapperOf<CallTag<kName>, kHandler>};
}

// Whether a call is the outermost one on its thread of those that give and take back: cudaMalloc calls cuMemAlloc.
class Outermost {
 public:
  Outermost();
  ~Outermost();
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return outermost_; }

 private:
  const bool outermost_;
};

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CALL_WRAPPER_H_
