// Where CPython keeps the frames of a thread and what they run: offsets in bytes, of the interpreter of this process.
//
// From 3.13 on the interpreter says most of it itself (_Py_DebugOffsets, at the start of _PyRuntime); before, a minor
// version is one layout. Nothing here knows Python's headers. Any thread.
#ifndef TRACKER_STACKS_FRAME_LAYOUT_H_
#define TRACKER_STACKS_FRAME_LAYOUT_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

struct FrameLayout {
  void* (*thread_state)();  // PyGILState_GetThisThreadState: needs no GIL
  char* code_type;          // PyCode_Type
  int frame, through;       // in the thread's state; then in what that leads to, -1: nothing lies between
  // In a frame. `code` may have bits of its own in its lowest three; `owner` -1: there is none.
  int previous, code, instruction, owner;
  // In code. `instructions`: where they begin; 0: the frame has an index instead of an address.
  int file, function, line_table, first_line, instructions;
  int ascii_text, other_text;  // in a str: where its characters begin
  bool lines_in_pairs;         // the line table of 3.10, not that of 3.11
};

// nullptr: there is no interpreter here, or none whose frames are known; then `problem` has one line, cut to `size`,
// or "" for the former. What it returns stays.
const FrameLayout* FindFrameLayout(char* problem, std::size_t size);

// Apart from the process: the layout of a version as Py_Version has it (0x030b02f0). `runtime`: _PyRuntime; may be
// nullptr before 3.13. False: `problem` says why.
bool LayoutOf(std::uint32_t version, const void* runtime, FrameLayout* layout, char* problem, std::size_t size);

}  // namespace memoir

#endif  // TRACKER_STACKS_FRAME_LAYOUT_H_
