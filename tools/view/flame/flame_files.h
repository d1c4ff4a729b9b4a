// Files of flame graphs: collapsed stacks (for Brendan Gregg's flamegraph.pl and readers of its format), speedscope's
// JSON, and pprof's protobuf. docs/exports.md defines their contents.
#ifndef TOOLS_VIEW_FLAME_FLAME_FILES_H_
#define TOOLS_VIEW_FLAME_FLAME_FILES_H_

#include <string>
#include <string_view>

#include "tools/view/flame/flame_samples.h"

namespace memoir {

// Returns "main (train.py:90);Net.forward (net.py:12) 1048576", a line for each stack, with the bytes of `measure`.
std::string CollapsedStacks(const FlameSamples& samples, const FlameMeasure& measure);

// Returns a document with all measures. `first`: the measure that a viewer shows first. `name`: name of the capture.
std::string SpeedscopeJson(const FlameSamples& samples, const FlameMeasure& first, std::string_view name);

// Returns a gzipped perftools.profiles.Profile: https://github.com/google/pprof/blob/main/proto/profile.proto
// `comment`: describes in one line the part of the capture that the profile covers.
std::string PprofProfile(const FlameSamples& samples, const FlameMeasure& first, std::string_view comment);

}  // namespace memoir

#endif  // TOOLS_VIEW_FLAME_FLAME_FILES_H_
