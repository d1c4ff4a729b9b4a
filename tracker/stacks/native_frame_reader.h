// Reads the native frames (frames of C and C++ functions) of the calling thread. A frame is stored as the object (a
// library or the program) that contains its code, and the offset of the call in that object. `memoir symbolize` finds
// the names of the functions later, possibly on another machine.
//
// Uses the unwinder of C++ exceptions, without a lock and without an allocation. The unwinder needs _dl_find_object for
// this (glibc 2.35), which finds the object of an address without a lock. Any thread.
#ifndef TRACKER_STACKS_NATIVE_FRAME_READER_H_
#define TRACKER_STACKS_NATIVE_FRAME_READER_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// A native object is stored in the ring's table of names like Python code. Its function name is this mark, followed by
// the build id.
inline constexpr char kNativeMark[] = {0x7f, 'E', 'L', 'F', 0};
inline constexpr std::size_t kMostNativeFrames = 128;  // the outermost frames beyond this number are left out

// A library or the program. A native frame refers to a NativeObject where a Python frame refers to its code.
struct NativeObject {
  std::uintptr_t base;  // address of the object in memory, minus its address in its file
  // Id of an entry in the ring's table of names: the object's path, and kNativeMark followed by the object's build id.
  // 0: the table is full.
  std::uint32_t name;
  std::uint32_t sighting;  // distinguishes the object from earlier objects at the same addresses; never 0
  bool is_interpreter;     // true: it contains the interpreter, so Python frames describe the outer calls
  bool is_memoir;
};

struct NativeFrame {
  const NativeObject* object;
  std::uint32_t offset;  // address of the call in the object's file
};

// Call it before each recording, because ids of names in an earlier ring are invalid. False, with one line in `problem`
// (cut to `size`), if native frames cannot be read on this system.
bool PrepareNativeFrames(char* problem, std::size_t size);

// Returns the native object at the address `code`, which is FramePosition::code of a frame (frame_walk.h). nullptr if a
// Python code object is at this address.
const NativeObject* AsNativeObject(const char* code);

// Reads the frames, innermost first and without Memoir's own frames, up to the frame that Python called. Reads at most
// kMostNativeFrames. Returns the number of frames.
std::size_t ReadNativeFrames(NativeFrame* frames);

}  // namespace memoir

#endif  // TRACKER_STACKS_NATIVE_FRAME_READER_H_
