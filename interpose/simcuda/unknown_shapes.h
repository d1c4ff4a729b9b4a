// What a program asked for that depends on values nobody knows: shapes, with what was taken instead, and numbers.
//
// Any thread.
#ifndef INTERPOSE_SIMCUDA_UNKNOWN_SHAPES_H_
#define INTERPOSE_SIMCUDA_UNKNOWN_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memoir::simcuda {

// `name`: as torch names the operator, "aten::nonzero".
void CountUnknownShape(const std::string& name);

// The program read so many bytes that nobody knows, as zeros. Only a few at a time are numbers that it may decide by.
constexpr std::size_t kLargestNumbers = 64 << 10;
void NoteUnknownNumber(std::size_t bytes);

// (how often, name) of each.
std::vector<std::pair<std::uint64_t, std::string>> UnknownShapes();

// One line for the end of a process, such as "12 shapes depended on values that the simulated GPU did not compute
// (aten::nonzero 10, aten::bincount 2); each was taken to be the smallest possible (--sim-unknown=least)". "": none
// did.
std::string UnknownShapesLine(bool takes_most);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_UNKNOWN_SHAPES_H_
