// Shapes that depended on values nobody knows: how often, in which operator, and what was taken instead.
//
// Any thread.
#ifndef INTERPOSE_SIMCUDA_UNKNOWN_SHAPES_H_
#define INTERPOSE_SIMCUDA_UNKNOWN_SHAPES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memoir::simcuda {

// `name`: as torch names the operator, "aten::nonzero".
void CountUnknownShape(const std::string& name);

// (how often, name) of each.
std::vector<std::pair<std::uint64_t, std::string>> UnknownShapes();

// One line for the end of a process, such as "12 shapes depended on values that the simulated GPU did not compute
// (aten::nonzero 10, aten::bincount 2); each was taken to be the smallest possible (--sim-unknown=least)". "": none
// did.
std::string UnknownShapesLine(bool takes_most);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_UNKNOWN_SHAPES_H_
