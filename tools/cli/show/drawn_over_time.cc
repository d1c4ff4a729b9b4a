#include "tools/cli/show/drawn_over_time.h"

#include <cstdint>
#include <fstream>
#include <vector>

#include "tools/cli/ranks/compared_job.h"
#include "tools/view/time/over_time_picture.h"

namespace memoir {
namespace {

absl::Status WritePicture(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) return absl::UnavailableError("cannot write " + path + "; choose another file");
  return absl::OkStatus();
}

std::vector<std::uint32_t> OddRanksOf(const Capture& capture) {
  std::vector<std::uint32_t> odd;
  const OddRanks found = CompareRanksOf(capture);
  for (const OddRank& of : found.odd) {
    for (const std::size_t index : of.ranks) odd.push_back(found.ranks[index].rank);
  }
  return odd;
}

}  // namespace

absl::Status DrawOverTime(const Capture& capture, const OverTimeCurves& over_time, const DrawnFiles& files) {
  absl::Status status;
  const Theme& theme = files.dark ? kDark : kLight;
  const std::vector<std::uint32_t> odd = FitsInPicture(over_time) ? std::vector<std::uint32_t>() : OddRanksOf(capture);
  if (!files.png.empty()) status = WritePicture(files.png, OverTimePng(capture, over_time, theme, odd));
  if (status.ok() && !files.svg.empty()) status = WritePicture(files.svg, OverTimeSvg(capture, over_time, theme, odd));
  return status;
}

}  // namespace memoir
