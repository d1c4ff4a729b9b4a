// Describes in words how the program of capture B differs from the program of capture A.
#ifndef TOOLS_VIEW_COMPARE_CHANGE_TEXT_H_
#define TOOLS_VIEW_COMPARE_CHANGE_TEXT_H_

#include <string>
#include <vector>

#include "tools/analyze/compare/comparison.h"

namespace memoir {

// Returns "the inputs of Net are 2.0 times as large (int64[16, 128], now int64[32, 128])". Escaped, one line.
std::string ChangeText(const ProgramChange& change);
// Returns the same text for a capture A that is another rank, and not an earlier version of B: "the inputs of Net are
// 2.0 times as large (int64[16, 128] on rank 0, here int64[32, 128])". `a`: "rank 0".
std::string ChangeTextOfRank(const ProgramChange& change, const std::string& a);

// Returns the texts of the first two causes of the device's difference.
std::vector<std::string> NamedCauses(const ComparedDevice& device);
// Returns the causes of the device's difference, the first two in full. Empty if no cause is known.
std::string CausesText(const ComparedDevice& device);

// Returns "eval.py:30 evaluate has at most 93.0 MiB (+30.0 MiB, activation (kept))" for the line that differs most
// at an instant other than the peak. Empty if no line differs.
std::string BelowPeakText(const ComparedDevice& device);

}  // namespace memoir

#endif  // TOOLS_VIEW_COMPARE_CHANGE_TEXT_H_
