#include "tools/read/chunk/keyframe_parser.h"

#include <cstddef>
#include <string>

#include "tools/read/chunk/varint.h"

namespace memoir {
namespace {

// Bounds memory: a hostile keyframe may contain millions of empty messages. An empty message takes two bytes in the
// file, and about 200 bytes of memory when it is parsed.
constexpr std::size_t kMaxKeyframeMessages = 1u << 20;

absl::Status Damaged(const char* what) { return absl::DataLossError(what); }

}  // namespace

absl::Status ParseKeyframe(std::string_view bytes, KeyframeParts parts, v1::Keyframe* keyframe) {
  WireReader reader(bytes);
  WireField field;
  std::size_t messages = 0;
  std::string devices;
  const char* begin = bytes.data();
  while (reader.Next(&field)) {
    messages += field.type == WireType::kBytes;
    if (messages > kMaxKeyframeMessages) return Damaged("keyframe holds more than a keyframe can");
    if (field.number == 3 && field.type == WireType::kBytes) {
      devices.append(begin, static_cast<std::size_t>(field.bytes.data() + field.bytes.size() - begin));
    }
    if (field.type == WireType::kBytes) begin = field.bytes.data() + field.bytes.size();
  }
  if (!reader.ok()) return Damaged("keyframe is damaged");
  const std::string_view wanted = parts == KeyframeParts::kAll ? bytes : std::string_view(devices);
  if (!keyframe->ParseFromArray(wanted.data(), static_cast<int>(wanted.size()))) return Damaged("keyframe is damaged");
  return absl::OkStatus();
}

}  // namespace memoir
