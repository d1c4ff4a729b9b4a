// The first line of a comparison: the difference in bytes, and its main cause.
#ifndef TOOLS_VIEW_COMPARE_HEADLINE_H_
#define TOOLS_VIEW_COMPARE_HEADLINE_H_

#include <string>

#include "tools/analyze/compare/comparison.h"

namespace memoir {

// Returns "+512.0 MiB at the peak of cuda:0: train.py:31 aten::linear in layers.* (+480.0 MiB, activation)". Escaped,
// one line.
std::string Headline(const Comparison& comparison, const std::string& at);

// Returns "cuda:0" or "rank 3 cuda:0".
std::string DeviceWord(const ComparedDevice& device, const Comparison& comparison);
// Returns "the peak of", "the snapshot of", "the end on" or "mark:a on".
std::string InstantWords(const std::string& at);

}  // namespace memoir

#endif  // TOOLS_VIEW_COMPARE_HEADLINE_H_
