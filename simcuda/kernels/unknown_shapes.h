// Counts the program's uses of unknown values: shapes that depend on them, and numbers that it reads.
//
// Any thread.
#ifndef SIMCUDA_KERNELS_UNKNOWN_SHAPES_H_
#define SIMCUDA_KERNELS_UNKNOWN_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memoir::simcuda {

// Counts a shape. `name`: torch's name of the operator, "aten::nonzero".
void CountUnknownShape(const std::string& name);

// Notes that the program read `bytes` unknown bytes, as zeros. Ignores reads above kLargestNumbers: only small reads
// can be numbers that control the program.
constexpr std::size_t kLargestNumbers = 64 << 10;
void NoteUnknownNumber(std::size_t bytes);

// Returns (count, name) of each operator.
std::vector<std::pair<std::uint64_t, std::string>> UnknownShapes();

// Returns one line for the end of a process, such as "12 shapes depended on values that the simulated GPU did not
// compute (aten::nonzero 10, aten::bincount 2); each was taken to be the smallest possible (--sim-unknown least); most
// gives the other bound". "" if no shape depended on such values.
std::string UnknownShapesLine(bool takes_most);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_KERNELS_UNKNOWN_SHAPES_H_
