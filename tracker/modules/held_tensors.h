// Records what modules and optimizers hold: parameters, their gradients, an optimizer's state.
//
// Implemented in tracker/torch, which alone knows what a tensor is; here they are addresses of TensorImpls. Called with
// the GIL held, so that the tensors that Python holds stay.
#ifndef TRACKER_MODULES_HELD_TENSORS_H_
#define TRACKER_MODULES_HELD_TENSORS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

inline constexpr std::size_t kMostHeld = 128;  // of one call of the functions below

// A number that changes when the parameters, their storages or their gradients do. Never AddressTable::kUnknown.
std::uint32_t FingerprintHeld(const void* const* parameters, std::size_t count);
// At most kMostHeld parameters. `more`: of the same module as the call before.
void RecordModuleHolds(std::uint32_t module, const void* const* parameters, std::size_t count, bool more);
// With the gradients of `parameters`; `count` and `states` at most kMostHeld.
void RecordOptimizerHolds(std::uint64_t optimizer, const void* const* parameters, std::size_t count,
                          const void* const* state, std::size_t states, bool more);

}  // namespace memoir

#endif  // TRACKER_MODULES_HELD_TENSORS_H_
