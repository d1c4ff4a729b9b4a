// Offsets, in bytes, of the fields that Memoir reads in CPython's threads, frames and code objects, for the interpreter
// of this process.
//
// From Python 3.13 on the interpreter publishes most of these offsets (_Py_DebugOffsets, at the start of _PyRuntime).
// Before 3.13 each minor version has one fixed layout. This code does not use Python's headers.
#ifndef TRACKER_STACKS_FRAME_LAYOUT_H_
#define TRACKER_STACKS_FRAME_LAYOUT_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

struct FrameLayout {
  void* (*thread_state)();  // PyGILState_GetThisThreadState, which needs no GIL
  char* code_type;          // PyCode_Type
  // `frame`: offset of a pointer in the thread's state. `through`: offset of the pointer to the innermost frame, in the
  // object to which the first pointer points; -1: the first pointer points to the innermost frame itself.
  int frame, through;
  // Offsets in a frame. The lowest three bits of the pointer at `code` may be flags. `owner` is -1 if frames have no
  // owner field.
  int previous, code, instruction, owner;
  // Offsets in a code object. `instructions`: offset of the first instruction; 0 if a frame contains the index of its
  // current instruction, not the instruction's address.
  int file, function, line_table, first_line, instructions;
  int ascii_text, other_text;  // offsets in a str: of its characters if all are ASCII; of its characters otherwise
  bool lines_in_pairs;         // the line table has the format of Python 3.10, not of 3.11
};

// Returns the layout of the interpreter's frames, which is never freed. If there is no interpreter, returns nullptr,
// and `problem` is empty. If the layout is unknown, returns nullptr, and `problem` has one line with the reason, cut to
// `size` bytes. Call it on one thread at a time.
const FrameLayout* FindFrameLayout(char* problem, std::size_t size);

// Determines the layout of one version of Python, which need not be the version in this process. `version` is encoded
// like Py_Version (0x030b02f0). `runtime`: the address of _PyRuntime; may be nullptr before 3.13. False: `problem` has
// the reason.
bool LayoutOf(std::uint32_t version, const void* runtime, FrameLayout* layout, char* problem, std::size_t size);

}  // namespace memoir

#endif  // TRACKER_STACKS_FRAME_LAYOUT_H_
