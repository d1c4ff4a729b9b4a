// Objects of the interpreter, read in place without its headers: offsets are the caller's. With the GIL held, or on the
// thread that runs the frame.
#ifndef TRACKER_STACKS_PYTHON_OBJECT_H_
#define TRACKER_STACKS_PYTHON_OBJECT_H_

#include <cstdint>
#include <cstring>

namespace memoir {

// The same in 3.10 to 3.14, in bytes: the type of an object; of a PyCFunction its PyMethodDef, and what it is bound to.
inline constexpr int kObjectType = 8, kFunctionDefinition = 16, kFunctionSelf = 24;

inline const char* PointerAt(const void* object, int offset) {
  const char* pointer;
  std::memcpy(static_cast<void*>(&pointer), static_cast<const char*>(object) + offset, sizeof pointer);
  return pointer;
}

// An object in a frame: from 3.14 on the lowest bits of such a pointer say how it is counted, and null has one, too.
inline const char* ObjectAt(const char* frame, int offset) {
  constexpr std::uintptr_t kTags = 7;
  return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(PointerAt(frame, offset)) & ~kTags);
}

// A frame that stands between those of two interpreter loops. `owner`: offset of who owns it; -1: there are none such.
inline bool HoldsNoFunction(const char* frame, int owner) {
  constexpr char kOwnedByC = 3;  // or by the loop that runs frames
  return owner >= 0 && frame[owner] >= kOwnedByC;
}

}  // namespace memoir

#endif  // TRACKER_STACKS_PYTHON_OBJECT_H_
