// From an instruction of Python code to its line, by the code's own table: what PyCode_Addr2Line does, without calling
// it. Reads `size` bytes and no more, whatever they are. Any thread.
#ifndef TRACKER_STACKS_LINE_TABLE_H_
#define TRACKER_STACKS_LINE_TABLE_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// `instruction`: bytes from the code's first one. 0: it belongs to no line.
// Of 3.10: pairs of bytes, of instructions and of lines (Objects/lnotab_notes.txt there).
std::uint32_t LineInPairs(const std::uint8_t* table, std::size_t size, std::int32_t first_line,
                          std::uint32_t instruction);
// From 3.11 on (Objects/locations.md there, later InternalDocs/code_objects.md).
std::uint32_t LineInLocations(const std::uint8_t* table, std::size_t size, std::int32_t first_line,
                              std::uint32_t instruction);

}  // namespace memoir

#endif  // TRACKER_STACKS_LINE_TABLE_H_
