#include "tools/view/capture/unrecorded_text.h"

#include <algorithm>

#include "fmt/format.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

bool IsCuda(std::string_view device) { return device.starts_with("cuda"); }

const char* Subject(v1::Unrecorded::What what) {
  switch (what) {
    case v1::Unrecorded::CUDA_MEMORY:
      return "CUDA memory is not known";
    case v1::Unrecorded::DRIVER_CALLS:
      return "some calls of CUDA's libraries are not recorded";
    case v1::Unrecorded::PYTHON_STACKS:
      return "Python stacks are not recorded";
    case v1::Unrecorded::NATIVE_STACKS:
      return "native frames are not recorded";
    case v1::Unrecorded::KERNEL_TIMES:
      return "how long kernels ran is not recorded";
    default:
      return "something is not recorded";
  }
}

std::string Line(const UnrecordedSpan& span) {
  if (span.what == v1::Unrecorded::UNKNOWN && span.begin_ns == 0 && !span.ended) return Escaped(span.why);
  return fmt::format("{} from {} to {}: {}", Subject(span.what), FormatMoment(span.begin_ns),
                     span.ended ? FormatMoment(span.end_ns) : "the end", Escaped(span.why));
}

}  // namespace

std::vector<std::string> UnrecordedLines(const ReplayReport::Process& process) {
  std::vector<std::string> lines;
  for (const UnrecordedSpan& span : process.unrecorded) lines.push_back(Line(span));
  return lines;
}

std::string CudaMemoryNotKnown(const ReplayReport& report) {
  for (const ReplayReport::Process& process : report.processes) {
    if (const UnrecordedSpan* span = process.UnknownCudaMemory()) return Line(*span);
  }
  return "";
}

const UnrecordedSpan* UnknownMemory(const ReplayReport& report, ProcessId process, std::string_view device) {
  return IsCuda(device) ? report.processes[process.value].UnknownCudaMemory() : nullptr;
}

const UnrecordedSpan* UnknownMemoryAtEnd(const ReplayReport& report, ProcessId process, std::string_view device) {
  return IsCuda(device) ? report.processes[process.value].UnknownCudaMemoryAtEnd() : nullptr;
}

const UnrecordedSpan* UnknownMemoryAt(const ReplayReport& report, ProcessId process, std::string_view device,
                                      std::uint64_t ns) {
  if (!IsCuda(device)) return nullptr;
  const auto& spans = report.processes[process.value].unrecorded;
  const auto found = std::ranges::find_if(spans, [&](const UnrecordedSpan& span) {
    return span.what == v1::Unrecorded::CUDA_MEMORY && ns >= span.begin_ns && (!span.ended || ns < span.end_ns);
  });
  return found == spans.end() ? nullptr : &*found;
}

}  // namespace memoir
