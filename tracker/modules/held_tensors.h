// Records what modules and optimizers hold: parameters, their gradients, a module's buffers, an optimizer's state.
//
// Implemented in tracker/torch, which alone knows what a tensor is, but for the two that ask Python; here they are
// addresses of TensorImpls. Called with the GIL held, so that the tensors that Python holds stay.
#ifndef TRACKER_MODULES_HELD_TENSORS_H_
#define TRACKER_MODULES_HELD_TENSORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "interpose/ring_record.h"

namespace memoir {

inline constexpr std::size_t kMostHeld = 128;                 // parameters, and buffers, of one record of a module
inline constexpr std::size_t kMostOptimized = kMaxLists - 2;  // parameters of one record of an optimizer
inline constexpr std::size_t kMostState = 512;                // tensors of their state

// Tensors of a module with their names, for one record: those of parameters and those of buffers fit into one.
struct NamedTensors {
  static constexpr std::size_t kNameBytes = 2000;
  static constexpr std::size_t kMaxName = 1000;  // longer ones are cut
  const void* impls[kMostHeld];
  std::size_t count = 0;
  char names[kNameBytes];  // each with a NUL behind it; empty: not known
  std::size_t name_bytes = 0;

  // False when there is no room for it, which there always is in an empty one.
  bool Add(const void* impl, std::string_view name) {
    name = name.substr(0, std::min(name.find('\0'), kMaxName));
    if (count == kMostHeld || name_bytes + name.size() + 1 > kNameBytes) return false;
    impls[count++] = impl;
    std::memcpy(names + name_bytes, name.data(), name.size());
    name_bytes += name.size();
    names[name_bytes++] = '\0';
    return true;
  }
  void Clear() { count = name_bytes = 0; }
};

// Whether it is exactly a torch.Tensor or torch.nn.Parameter. `object`, here and below, is Python's.
bool IsPlainTensor(const void* object);
// Of a DTensor the TensorImpl of what this rank has of it; nullptr: it is none. Runs no code of the program's.
const void* LocalImpl(void* object);

// A number that changes when the parameters, their storages or their gradients do. Below 2^31.
std::uint32_t FingerprintHeld(const void* const* parameters, std::size_t count);
// `more`: of the same module as the call before.
void RecordModuleHolds(std::uint32_t module, const NamedTensors& parameters, const NamedTensors& buffers, bool more);
// With the gradients of `parameters`, at most kMostOptimized; `state`, lowest bits as in memoir_optimizer_holds, has
// `state_counts[i]` tensors of the i-th of them, one parameter's after the other's, at most kMostState.
void RecordOptimizerHolds(std::uint64_t optimizer, const void* const* parameters, std::size_t count,
                          const void* const* state, const std::uint32_t* state_counts, bool more);

}  // namespace memoir

#endif  // TRACKER_MODULES_HELD_TENSORS_H_
