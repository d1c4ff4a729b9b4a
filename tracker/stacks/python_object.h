// Reads the interpreter's objects in place, without Python's headers; callers pass the offsets. Called with the GIL
// held, or on the thread that runs the frame.
#ifndef TRACKER_STACKS_PYTHON_OBJECT_H_
#define TRACKER_STACKS_PYTHON_OBJECT_H_

#include <cstdint>
#include <cstring>

namespace memoir {

// Byte offsets that are equal in Python 3.10 to 3.14: of the type in an object; of the PyMethodDef and of the bound
// object in a PyCFunction.
inline constexpr int kObjectType = 8, kFunctionDefinition = 16, kFunctionSelf = 24;

inline const char* PointerAt(const void* object, int offset) {
  const char* pointer;
  std::memcpy(static_cast<void*>(&pointer), static_cast<const char*>(object) + offset, sizeof pointer);
  return pointer;
}

// Returns an object to which a frame points. From Python 3.14 on the lowest bits of such a pointer, even of a null
// pointer, are flags of reference counting.
inline const char* ObjectAt(const char* frame, int offset) {
  constexpr std::uintptr_t kTags = 7;
  return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(PointerAt(frame, offset)) & ~kTags);
}

// Returns true if `frame` is not the frame of a function, but an entry between the frames of two interpreter loops.
// `owner`: offset of the owner field; -1 if there is no such field.
inline bool HoldsNoFunction(const char* frame, int owner) {
  constexpr char kOwnedByC = 3;  // this value and greater ones: owned by C or by the interpreter's loop
  return owner >= 0 && frame[owner] >= kOwnedByC;
}

}  // namespace memoir

#endif  // TRACKER_STACKS_PYTHON_OBJECT_H_
