#include "tools/view/report/report_section.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "tools/view/json/gzip.h"

namespace memoir {

void ColumnWriter::Number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void ColumnWriter::Differences(const std::vector<std::uint64_t>& values) {
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    const auto difference = static_cast<std::int64_t>(value - before);
    Number((static_cast<std::uint64_t>(difference) << 1) ^ static_cast<std::uint64_t>(difference >> 63));
    before = value;
  }
}

void ColumnWriter::Repeated(const std::vector<std::uint64_t>& values) {
  absl::flat_hash_map<std::uint64_t, std::uint64_t> times;
  for (const std::uint64_t value : values) ++times[value];
  std::vector<std::pair<std::uint64_t, std::uint64_t>> frequent(times.begin(), times.end());
  std::ranges::sort(frequent, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  Number(frequent.size());
  for (std::uint64_t i = 0; i < frequent.size(); ++i) {
    Number(frequent[i].first);
    times[frequent[i].first] = i;
  }
  for (const std::uint64_t value : values) Number(times[value]);
}

std::string Base64(std::string_view bytes) {
  std::string text;
  absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()), &text);
  return text;
}

ReportSection MakeSection(std::string name, std::string_view bytes) {
  return {std::move(name), Base64(Deflate(bytes))};
}

}  // namespace memoir
