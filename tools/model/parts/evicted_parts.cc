#include "tools/model/parts/evicted_parts.h"

#include <optional>
#include <string>

#include "tools/read/chunk/varint.h"

namespace memoir {
namespace {

constexpr std::uint32_t kCountersField = 9;

std::optional<v1::Counters> FindCounters(const std::string& payload) {
  WireReader reader(payload);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != kCountersField || field.type != WireType::kBytes) continue;
    v1::Counters counters;
    if (counters.ParseFromArray(field.bytes.data(), static_cast<int>(field.bytes.size()))) return counters;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t CountEvictedParts(const ProcessFiles& process) {
  PayloadReader reader;
  std::string payload;
  for (auto part = process.parts.rbegin(); part != process.parts.rend(); ++part) {
    for (auto chunk = part->chunks.rbegin(); chunk != part->chunks.rend(); ++chunk) {
      if (!reader.Read(*part, *chunk, &payload).ok()) continue;
      if (const auto counters = FindCounters(payload)) return counters->folded_parts();
    }
  }
  return 0;
}

}  // namespace memoir
