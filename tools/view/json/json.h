// The fields at the beginning of every JSON document of `memoir show --json` (docs/json.md), and functions that write
// JSON as text. Keys are stable: keys are added, but never renamed.
#ifndef TOOLS_VIEW_JSON_JSON_H_
#define TOOLS_VIEW_JSON_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"
#include "tools/model/capture.h"

namespace memoir {

using Json = nlohmann::ordered_json;

// Returns an object with version, capture, view, dropped_events, lost_records, lost_chunks, damage and processes.
Json CaptureJson(const Capture& capture, const ReplayReport& report, const std::string& view);

// Returns the rank. null if there is no rank.
Json RankJson(std::optional<std::uint32_t> rank);

// Returns the coordinates of the rank in the job: [{"dimension": "pp", "index": 1, "size": 4}]
Json CoordinatesJson(const v1::ProcessInfo& info);

// Returns "off", "memory" or "all".
const char* LevelName(v1::RecordingLevel level);

// Returns the document as text, with a newline at the end. Invalid UTF-8 in a capture's names becomes U+FFFD, because
// JSON cannot express it. Characters that change how a terminal shows text (controls, reordering) are escaped.
std::string ToText(const Json& json);
// Returns a JSON string with its quotes, on one line.
std::string Quoted(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_VIEW_JSON_JSON_H_
