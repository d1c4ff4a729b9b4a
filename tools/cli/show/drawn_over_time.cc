#include "tools/cli/show/drawn_over_time.h"

#include <fstream>

#include "tools/view/time/over_time_picture.h"

namespace memoir {
namespace {

absl::Status WritePicture(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) return absl::UnavailableError("cannot write " + path + "; choose another file");
  return absl::OkStatus();
}

}  // namespace

absl::Status DrawOverTime(const Capture& capture, const OverTimeCurves& over_time, const DrawnFiles& files) {
  absl::Status status;
  const Theme& theme = files.dark ? kDark : kLight;
  if (!files.png.empty()) status = WritePicture(files.png, OverTimePng(capture, over_time, theme));
  if (status.ok() && !files.svg.empty()) status = WritePicture(files.svg, OverTimeSvg(capture, over_time, theme));
  return status;
}

}  // namespace memoir
