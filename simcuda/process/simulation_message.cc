#include "simcuda/process/simulation_message.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace memoir::simcuda {

void PrintMessage(const std::string& what) {
  const int error = errno;
  const std::string line = "memoir: simulated GPU: " + what + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  errno = error;
}

std::string ReadableBytes(std::uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

}  // namespace memoir::simcuda
