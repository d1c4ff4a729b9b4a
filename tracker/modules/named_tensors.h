// Records the tensors of modules and optimizers: parameters, their gradients, a module's buffers, an optimizer's state.
//
// tracker/torch implements these functions, because the code of this folder includes no header of torch. Only
// IsPlainTensor and LocalImpl are implemented in python_interface.cc. Tensors are passed as addresses of their
// TensorImpls. The caller keeps the tensors alive; for tensors of Python, it holds the GIL.
#ifndef TRACKER_MODULES_NAMED_TENSORS_H_
#define TRACKER_MODULES_NAMED_TENSORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "interpose/records/ring_record.h"

namespace memoir {

inline constexpr std::size_t kMostHeld = 128;  // limit on parameters, and on buffers, in one record of a module
inline constexpr std::size_t kMostOptimized = kMaxLists - 2;  // limit on parameters in one record of an optimizer
inline constexpr std::size_t kMostState = 512;                // limit on state tensors in one record of an optimizer

// Tensors of a module with their names, for one record. A record holds two such objects: one with parameters and one
// with buffers.
struct NamedTensors {
  static constexpr std::size_t kNameBytes = 2000;
  static constexpr std::size_t kMaxName = 1000;  // bytes; longer names are cut
  const void* impls[kMostHeld];
  std::size_t count = 0;
  char names[kNameBytes];  // one name for each tensor, followed by a NUL; empty: the tensor has no name
  std::size_t name_bytes = 0;

  // Adds a tensor. False if there is no room. An empty object has room for any tensor.
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

// Returns true if the type of the Python object is exactly torch.Tensor or torch.nn.Parameter.
bool IsPlainTensor(const void* object);
// Returns the TensorImpl of a DTensor's local tensor; nullptr if `object` is not a DTensor. Runs no code of the
// program.
const void* LocalImpl(void* object);

// Returns a number below 2^31. It changes when the parameters, their storages or their gradients change.
std::uint32_t FingerprintParameters(const void* const* parameters, std::size_t count);
// Records the tensors of a module. `more`: continues the previous call, which was for the same module.
void RecordModuleHolds(std::uint32_t module, const NamedTensors& parameters, const NamedTensors& buffers, bool more);
// Records an optimizer: at most kMostOptimized parameters with their gradients, and at most kMostState state tensors.
// `state` has `state_counts[i]` tensors for the i-th parameter, ordered by parameter. The lowest bit of an address in
// `state` has the same meaning as in memoir_optimizer_holds. `more`: continues the previous call.
void RecordOptimizerHolds(std::uint64_t optimizer, const void* const* parameters, std::size_t count,
                          const void* const* state, const std::uint32_t* state_counts, bool more);

}  // namespace memoir

#endif  // TRACKER_MODULES_NAMED_TENSORS_H_
