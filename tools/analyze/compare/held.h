// What is live at one instant, divided as finely as two recordings are compared: by operator, module, line and category
// at once. Rows of any of these are sums of such parts.
#ifndef TOOLS_ANALYZE_COMPARE_HELD_H_
#define TOOLS_ANALYZE_COMPARE_HELD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/compare/line_match.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/at.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// Blocks that have all of this in common. Labels are those of the rows of `memoir show`.
struct HeldPart {
  std::string operator_name;
  std::string module_label;  // of what is in no module; "": `module` is one
  Module module;
  std::string line_label;  // of what is of no line; "": `line` is one
  SourceLine line;
  std::string category;
  bool is_of_library = false;  // its workspace: of no module
  std::string other;           // by HeldOptions::other
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct HeldDevice {
  std::string name;
  ProcessId process;
  std::uint64_t ns = 0;     // the instant
  std::uint64_t bytes = 0;  // == sum of parts
  std::uint64_t blocks = 0;
  std::vector<HeldPart> parts;
  // Of the allocation that led there; none: it was no allocation.
  std::optional<Phase> phase;
  std::string module;  // "": of none
  // When most was reserved in the window; of a caching allocator. They sum to it; their categories are ReservedPlaces.
  std::uint64_t reserved_bytes = 0;
  std::vector<HeldPart> reserved_parts;
};

struct Held {
  std::vector<HeldDevice> devices;
  std::vector<Module> modules;                    // that were called in the recording; none in a snapshot
  std::vector<SeenLine> lines;                    // that allocated in the recording
  bool maps_segments = false;                     // an allocator with expandable segments
  std::string missing_lines, missing_categories;  // what is not known of them, in one line; mostly empty
  ReplayReport report;
};

struct HeldOptions : Selection {
  At at;
  std::optional<GroupBy> other;  // a grouping that is not made of the four
};

absl::StatusOr<Held> AnalyzeHeld(const Capture& capture, const HeldOptions& options);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_HELD_H_
