// Redirects the virtual function `allocate` of one of torch's allocators: the slot of it in the table of its class.
//
// The object stays torch's, and so do all its other functions, those that a later torch adds among them
// (docs/decisions/0016-pinned-memory.md). All objects of exactly that class are redirected. Any thread.
#ifndef TRACKER_TORCH_ALLOCATE_SLOT_H_
#define TRACKER_TORCH_ALLOCATE_SLOT_H_

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/import_slots.h"

namespace memoir {

// As the Itanium C++ ABI passes a member function: the address of the result, the object, the argument.
using AllocateFunction = c10::DataPtr (*)(c10::Allocator*, std::size_t);

inline void** SlotOfAllocate(c10::Allocator* allocator) {
  const auto member = &c10::Allocator::allocate;
  std::uintptr_t offset = 0;
  static_assert(sizeof member == 2 * sizeof offset);
  std::memcpy(&offset, &member, sizeof offset);
#if defined(__x86_64__)
  offset -= 1;  // marks a virtual function; on aarch64 the other half does
#endif
  return reinterpret_cast<void**>(*reinterpret_cast<std::uintptr_t*>(allocator) + offset);
}

// Stores in *inner what was called before, and only then redirects, for others may be calling. False: it cannot be
// done, and *inner is nullptr.
inline bool RedirectAllocate(c10::Allocator* allocator, AllocateFunction replacement, AllocateFunction* inner) {
  void** slot = SlotOfAllocate(allocator);
  void* const before = *slot;
  *inner = reinterpret_cast<AllocateFunction>(before);
  if (RedirectSlot(slot, before, reinterpret_cast<void*>(replacement))) return true;
  *inner = nullptr;
  return false;
}

}  // namespace memoir

#endif  // TRACKER_TORCH_ALLOCATE_SLOT_H_
