#include "tools/view/report/source_excerpts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

constexpr std::uint32_t kAround = 6;                                        // lines before and after a line with memory
constexpr std::size_t kMostFiles = 50, kMostLines = 4000, kMostText = 200;  // bytes of a line
constexpr std::int64_t kLargestFile = 4 << 20;

struct NamedFile {
  std::uint64_t bytes = 0;  // at the peak
  std::set<std::uint32_t> lines;
};

// Files of the table of lines, those with the most bytes first.
std::vector<std::pair<std::string, NamedFile>> NamedFiles(const ReportContent& report) {
  std::map<std::string, NamedFile> files;
  for (const Summary& summary : report.summaries) {
    if (summary.by != GroupBy::kLine) continue;
    for (const SummaryRow& row : summary.rows) {
      if (row.source.line == 0 || !row.source.file.ends_with(".py")) continue;
      NamedFile& file = files[row.source.file];
      file.bytes += row.total.bytes_at_peak;
      file.lines.insert(row.source.line);
    }
  }
  std::vector<std::pair<std::string, NamedFile>> ordered(files.begin(), files.end());
  std::ranges::stable_sort(ordered, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  return ordered;
}

// Returns why the file cannot be shown. Empty if it can.
std::string WhyUnreadable(const std::string& file, std::uint64_t begin_ns) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return "it is not there";
  if (!S_ISREG(status.st_mode) || status.st_size > kLargestFile) return "it is not an ordinary file of at most 4 MiB";
  const std::uint64_t changed_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
  if (changed_ns > begin_ns) return "it was changed after the recording began";
  return access(file.c_str(), R_OK) == 0 ? "" : "it may not be read";
}

// Returns [[number, text], ...] for the lines around `wanted`.
Json LinesOf(const std::string& file, const std::set<std::uint32_t>& wanted, std::size_t* room) {
  Json lines = Json::array();
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  for (std::uint32_t number = 1; *room > 0 && std::getline(stream, text); ++number) {
    const auto next = wanted.lower_bound(number > kAround ? number - kAround : 0);
    if (next == wanted.end()) break;
    if (*next > number + kAround) continue;
    if (text.ends_with('\r')) text.pop_back();
    lines.push_back(Json::array({number, Escaped(text.substr(0, kMostText))}));
    --*room;
  }
  return lines;
}

}  // namespace

Json SourceExcerpts(const Capture& capture, const ReportContent& report, const std::string& host) {
  Json json = {{"files", Json::array()}, {"missing", Json::array()}};
  std::uint64_t begin_ns = ~std::uint64_t{0};
  std::string other_host;
  for (const ProcessSummary& process : capture.processes()) {
    begin_ns = std::min(begin_ns, process.info.start().realtime_ns());
    if (process.info.host() != host) other_host = process.info.host();
  }
  std::size_t room = kMostLines;
  for (const auto& [file, named] : NamedFiles(report)) {
    if (json["files"].size() == kMostFiles || room == 0) break;
    std::string why = other_host.empty() ? WhyUnreadable(file, begin_ns) : "it was recorded on the host " + other_host;
    if (!why.empty()) {
      json["missing"].push_back({{"file", Escaped(file)}, {"why", Escaped(why)}});
      continue;
    }
    json["files"].push_back({{"file", file}, {"lines", LinesOf(file, named.lines, &room)}});
  }
  return json;
}

}  // namespace memoir
