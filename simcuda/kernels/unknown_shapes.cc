#include "simcuda/kernels/unknown_shapes.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "simcuda/configuration/report_file.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {
namespace {

struct ShapeCounts {
  Mutex mutex;
  std::map<std::string, std::uint64_t> counts;
};

// Never destroyed, because operators run until the process ends.
constinit LazyObject<ShapeCounts> all;

ShapeCounts& All() { return all.Get(); }

constexpr std::size_t kMostNamed = 4;

}  // namespace

void CountUnknownShape(const std::string& name) {
  const std::lock_guard lock(All().mutex);
  if (++All().counts[name] == 1) NoteUnknown("shape " + name);
}

void NoteUnknownNumber(std::size_t bytes) {
  static std::atomic<bool> noted{false};
  if (bytes <= kLargestNumbers && !noted.exchange(true, std::memory_order_relaxed)) NoteUnknown("number");
}

std::vector<std::pair<std::uint64_t, std::string>> UnknownShapes() {
  const std::lock_guard lock(All().mutex);
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const auto& [name, count] : All().counts) rows.emplace_back(count, name);
  return rows;
}

std::string UnknownShapesLine(bool takes_most) {
  auto rows = UnknownShapes();
  if (rows.empty()) return "";
  std::ranges::sort(rows, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a < b; });
  std::uint64_t total = 0;
  for (const auto& row : rows) total += row.first;
  std::string names;
  for (std::size_t i = 0; i < rows.size() && i < kMostNamed; ++i)
    names += (i == 0 ? "" : ", ") + rows[i].second + " " + std::to_string(rows[i].first);
  if (rows.size() > kMostNamed) names += ", and others";
  return std::to_string(total) + (total == 1 ? " shape" : " shapes") +
         " depended on values that the simulated GPU did not compute (" + names + "); each was taken to be the " +
         (takes_most ? "largest possible (--sim-unknown most); least"
                     : "smallest possible (--sim-unknown least); most") +
         " gives the other bound";
}

}  // namespace memoir::simcuda
