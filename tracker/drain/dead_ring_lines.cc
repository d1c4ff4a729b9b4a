#include "tracker/drain/dead_ring_lines.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tracker/drain/drain.h"
#include "tracker/drain/ring_search.h"

namespace memoir {
namespace {

// Replaces characters that would end a field or a line.
std::string Field(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n'; }, '?');
  return text;
}

std::string Line(const DeadRing& ring, const char* what, const std::string& text) {
  return Field(ring.path) + "\t" + std::to_string(ring.bytes) + "\t" + std::to_string(ring.pid) + "\t" + what + "\t" +
         Field(text) + "\n";
}

std::string Describe(const DeadRing& ring, bool clean) {
  if (!ring.is_whole) return Line(ring, "foreign", "");
  std::error_code error;
  const bool gone = !std::filesystem::is_directory(ring.capture_folder, error);
  if (!clean) return Line(ring, gone ? "gone" : "merge", ring.capture_folder);
  const std::string failure = DrainRing(ring.path, WithoutCapture::kRemove);
  if (!failure.empty()) return Line(ring, "kept", failure);
  return Line(ring, gone ? "removed" : "merged", ring.capture_folder);
}

}  // namespace

std::string DeadRingLines(const std::string& folder, bool clean) {
  // Collects all rings before it removes any ring: if a folder changes while it is read, readdir may return a name
  // twice.
  std::vector<DeadRing> rings;
  FindDeadRings(folder, [&rings](const DeadRing& ring) {
    if (!ring.is_locked) rings.push_back(ring);
    return true;
  });
  std::string lines;
  for (const DeadRing& ring : rings) lines += Describe(ring, clean);
  return lines;
}

}  // namespace memoir
