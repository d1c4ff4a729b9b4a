// Redirects the virtual function `allocate` of an allocator of torch: replaces the function's entry in the virtual
// table of the allocator's class.
//
// Memoir replaces neither the object nor any other function, so functions that a later torch adds also work
// (docs/decisions/0016-pinned-memory.md). The redirection affects all objects of exactly this class. Any thread.
#ifndef TRACKER_TORCH_HOST_ALLOCATORS_ALLOCATE_REDIRECTION_H_
#define TRACKER_TORCH_HOST_ALLOCATORS_ALLOCATE_REDIRECTION_H_

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/imports/import_slots.h"

namespace memoir {

// The type of `allocate`, written as a function that is not a member. The Itanium C++ ABI passes the same arguments to
// both kinds of function: the address of the result, the object, the number of bytes.
using AllocateFunction = c10::DataPtr (*)(c10::Allocator*, std::size_t);

// Returns the entry of `allocate` in the virtual table of the allocator's class.
inline void** SlotOfAllocate(c10::Allocator* allocator) {
  const auto member = &c10::Allocator::allocate;
  std::uintptr_t offset = 0;
  static_assert(sizeof member == 2 * sizeof offset);
  std::memcpy(&offset, &member, sizeof offset);
#if defined(__x86_64__)
  offset -= 1;  // this bit marks a virtual function; on aarch64 the other half of `member` has the mark
#endif
  return reinterpret_cast<void**>(*reinterpret_cast<std::uintptr_t*>(allocator) + offset);
}

// Redirects `allocate` to `replacement`. Stores the previous function in *inner before the redirection, because another
// thread may call `replacement` at once, and `replacement` calls *inner. If the entry cannot be changed, returns false
// and sets *inner to nullptr.
inline bool RedirectAllocate(c10::Allocator* allocator, AllocateFunction replacement, AllocateFunction* inner) {
  void** slot = SlotOfAllocate(allocator);
  void* const before = *slot;
  *inner = reinterpret_cast<AllocateFunction>(before);
  if (RedirectSlot(slot, before, reinterpret_cast<void*>(replacement))) return true;
  *inner = nullptr;
  return false;
}

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_ALLOCATORS_ALLOCATE_REDIRECTION_H_
