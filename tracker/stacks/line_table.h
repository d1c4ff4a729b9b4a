// Finds the line of an instruction in the line table of Python code, like PyCode_Addr2Line, but without calling Python.
// Reads at most `size` bytes, even if the table is damaged. Any thread.
#ifndef TRACKER_STACKS_LINE_TABLE_H_
#define TRACKER_STACKS_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// Both functions return the line of an instruction; 0 if it has no line. `instruction`: offset in bytes from the first
// instruction. LineInPairs reads tables of Python 3.10, which contain pairs of one byte for instructions and one byte
// for lines (Objects/lnotab_notes.txt in CPython).
std::uint32_t LineInPairs(const std::uint8_t* table, std::size_t size, std::int32_t first_line,
                          std::uint32_t instruction);
// LineInLocations reads tables of Python 3.11 and later (Objects/locations.md in CPython, later
// InternalDocs/code_objects.md).
std::uint32_t LineInLocations(const std::uint8_t* table, std::size_t size, std::int32_t first_line,
                              std::uint32_t instruction);

}  // namespace memoir

#endif  // TRACKER_STACKS_LINE_TABLE_H_
