// Files of flame graphs: collapsed stacks (Brendan Gregg's flamegraph.pl and all that read its format), speedscope's
// JSON, and pprof's protobuf. docs/exports.md says what each of them holds.
#ifndef TOOLS_VIEW_FLAME_FLAME_FILES_H_
#define TOOLS_VIEW_FLAME_FLAME_FILES_H_

#include <string>
#include <string_view>

#include "tools/view/flame/flame_samples.h"

namespace memoir {

// "main (train.py:90);Net.forward (net.py:12) 1048576": a stack a line, of this measure alone.
std::string CollapsedStacks(const FlameSamples& samples, const FlameMeasure& measure);

// All measures; the one that a viewer shows first. `name`: of the capture.
std::string SpeedscopeJson(const FlameSamples& samples, const FlameMeasure& first, std::string_view name);

// A gzipped perftools.profiles.Profile: https://github.com/google/pprof/blob/main/proto/profile.proto
// `comment`: what of the capture it is, in one line.
std::string PprofProfile(const FlameSamples& samples, const FlameMeasure& first, std::string_view comment);

}  // namespace memoir

#endif  // TOOLS_VIEW_FLAME_FLAME_FILES_H_
