// The native frames of the calling thread: return addresses, as offsets in the objects (libraries, the program) that
// have the code, which say later, and on another machine, what functions they are (memoir symbolize).
//
// Unwound by the unwinder that C++ exceptions use, without a lock and without an allocation: the C library has to find
// an object by an address without a lock (_dl_find_object, glibc 2.35). Any thread.
#ifndef TRACKER_STACKS_NATIVE_FRAMES_H_
#define TRACKER_STACKS_NATIVE_FRAMES_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// A name of code that begins so is no function of Python's, but a library or program, whose build id follows.
inline constexpr char kNativeMark[] = {0x7f, 'E', 'L', 'F', 0};
inline constexpr std::size_t kMostNativeFrames = 128;  // further out they are left out

// A library or the program: stands among frames where code of Python does.
struct NativeObject {
  std::uintptr_t base;     // of its addresses in memory; those in its file begin at 0
  std::uint32_t name;      // in the ring's table: its path, and its build id behind kNativeMark; 0: the table is full
  std::uint32_t sighting;  // never 0
  bool is_interpreter;     // what lies further out are calls of Python, which Python's own frames say
  bool is_memoir;
};

struct NativeFrame {
  const NativeObject* object;
  std::uint32_t offset;  // of the call in its file's addresses
};

// Before each recording: names of an earlier ring mean nothing. False: native frames cannot be read here, and `problem`
// has one line, cut to `size`.
bool PrepareNativeFrames(char* problem, std::size_t size);

// The object, where `code` is one: a frame's code is that of Python else.
const NativeObject* AsNativeObject(const char* code);

// Innermost first, without Memoir's own, at most kMostNativeFrames, up to where Python called. Returns how many.
std::size_t ReadNativeFrames(NativeFrame* frames);

}  // namespace memoir

#endif  // TRACKER_STACKS_NATIVE_FRAMES_H_
