// The captures that are mutated.
#ifndef TESTS_FUZZ_WHOLE_CAPTURES_H_
#define TESTS_FUZZ_WHOLE_CAPTURES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"

namespace memoir::testing {

enum class Operators : std::uint8_t { kAboveAutograd, kBelow };

// Returns a recording with events of nearly every kind: a training loop with modules and their tensors, autograd, and a
// GPU with driver allocations. Its operators are above or below autograd.
ProcessBuilder MakeProcess(Operators operators);

// The files of a capture: name and bytes.
using Parts = std::vector<std::pair<std::string, std::string>>;

Parts PartsOf(ProcessBuilder& process);
std::vector<Parts> ReleasedCaptures();  // the captures in tests/format/released

}  // namespace memoir::testing

#endif  // TESTS_FUZZ_WHOLE_CAPTURES_H_
