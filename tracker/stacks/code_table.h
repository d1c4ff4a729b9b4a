// What is known of Python code that frames run: its name in the ring's table, and the lines of its instructions. One
// table for all threads, by the address of the code.
//
// Code that is freed must not give its name to what comes to lie in its place. A frame holds its code, so code dies
// only where no frame runs it; PyCode_Type's tp_dealloc tells (decision 23), and the table forgets it there.
//
// Any thread, inside a hook and without the GIL. Finding takes no lock. A first sight takes a spin lock of this room's,
// and under it that of the ring's names, which is held for one copy; nobody waits for anything else under either.
#ifndef TRACKER_STACKS_CODE_TABLE_H_
#define TRACKER_STACKS_CODE_TABLE_H_

#include <cstdint>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

struct KnownCode {
  std::uint32_t sighting = 0;  // tells it from others that lay at its address; 0: it is no code
  std::uint32_t name = 0;      // in the ring's table; 0: that is full
};

// Before each recording: names of an earlier ring mean nothing. From here on deaths are told.
void PrepareCodes(const FrameLayout& layout);

// Of code that a frame of the calling thread runs; of anything else that is no code by its type, sighting 0.
KnownCode FindCode(const FrameLayout& layout, const char* code);

// Of an instruction of it, in bytes from the first. 0: it belongs to no line.
std::uint32_t FindLine(const FrameLayout& layout, const char* code, std::uint32_t sighting, std::uint32_t instruction);

// Changes where code dies that was known, or all is forgotten: what was found before may be another's then.
std::uint32_t CodeDeaths();

}  // namespace memoir

#endif  // TRACKER_STACKS_CODE_TABLE_H_
