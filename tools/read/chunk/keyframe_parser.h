// Parses the keyframe of a payload: completely, or only its devices. Called only if a replay needs the keyframe,
// because a keyframe is the largest message of a capture.
#ifndef TOOLS_READ_CHUNK_KEYFRAME_PARSER_H_
#define TOOLS_READ_CHUNK_KEYFRAME_PARSER_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "memoir/v1/capture.pb.h"

namespace memoir {

enum class KeyframeParts : std::uint8_t { kDevices, kAll };
absl::Status ParseKeyframe(std::string_view bytes, KeyframeParts parts, v1::Keyframe* keyframe);

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_KEYFRAME_PARSER_H_
