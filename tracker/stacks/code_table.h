// Maps each Python code object that Memoir has met to the id of its name in the ring's table of names, and its
// instructions to lines. One table for all threads, in which the address of a code object is the key.
//
// If new code gets the address of freed code, it must not get the name of the freed code. A frame holds a reference to
// its code, so code is freed only when no frame runs it. Python then calls PyCode_Type's tp_dealloc, which Memoir has
// replaced (docs/decisions/0023-python-stacks.md), and Memoir removes the code from the table.
//
// The functions may be called on any thread, inside of a hook and without the GIL. A look-up takes no lock. To add new
// code, the table takes its own spin lock, and under it the lock of the ring's names, which is held while one name is
// copied. To add a line, it takes only its own lock. No thread waits for anything else while it holds one of these
// locks.
#ifndef TRACKER_STACKS_CODE_TABLE_H_
#define TRACKER_STACKS_CODE_TABLE_H_

#include <cstdint>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

struct CodeEntry {
  std::uint32_t sighting = 0;  // distinguishes this code from earlier code at the same address; 0: not a code object
  std::uint32_t name = 0;      // id in the ring's table of names; 0: the ring's table is full
};

// Call it before each recording, because ids of names in an earlier ring are invalid. After the call the table removes
// code that Python frees.
void PrepareCodes(const FrameLayout& layout);

// Returns the entry of `code`, which a frame of the calling thread runs. `sighting` is 0 if `code` is not a code
// object.
CodeEntry FindCode(const FrameLayout& layout, const char* code);

// Returns the line of the instruction at the byte offset `instruction`; 0 if it has no line.
std::uint32_t FindLine(const FrameLayout& layout, const char* code, std::uint32_t sighting, std::uint32_t instruction);

// Returns a number that changes when Python frees code of this table, or when the table is cleared. After a change,
// entries that were returned earlier may belong to other code.
std::uint32_t CodeDeaths();

}  // namespace memoir

#endif  // TRACKER_STACKS_CODE_TABLE_H_
