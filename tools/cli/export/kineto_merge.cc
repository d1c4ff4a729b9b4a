#include "tools/cli/export/kineto_merge.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/export/capture_start.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  const auto failed = [&](int error) { return absl::ErrnoToStatus(error, absl::StrCat("cannot read ", path)); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return failed(errno);
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get()))
    text.append(piece.data(), size);
  if (std::ferror(file.get()) != 0) return failed(errno);
  return text;
}

// Returns the process that capture and trace have in common. nullptr if they have no process or several processes in
// common.
const ProcessSummary* ProcessOf(const KinetoTrace& trace, const Capture& capture) {
  const ProcessSummary* found = nullptr;
  for (const ProcessSummary& process : capture.processes()) {
    if (!trace.pids.contains(process.info.pid())) continue;
    if (found != nullptr) return nullptr;
    found = &process;
  }
  return found;
}

}  // namespace

absl::StatusOr<KinetoTrace> OpenKinetoTrace(const std::string& path) {
  absl::StatusOr<std::string> text = ReadWhole(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<KinetoTrace> trace = ReadKinetoTrace(*std::move(text));
  if (trace.ok()) return trace;
  return absl::Status(trace.status().code(), absl::StrCat(path, ": ", trace.status().message()));
}

absl::Status SelectTimeOf(const KinetoTrace& trace, const std::string& path, const Capture& capture,
                          Selection& selection) {
  const std::uint64_t start_ns = StartOf(capture);
  if (trace.end_ns <= start_ns) return OfAnotherRun(trace, path, capture);
  if (selection.window.kind == SelectionWindow::Kind::kAll)
    selection.window =
        SelectionWindow::Time(trace.begin_ns > start_ns ? trace.begin_ns - start_ns : 0, trace.end_ns - start_ns);
  const ProcessSummary* process = ProcessOf(trace, capture);
  if (process != nullptr && !selection.rank) selection.rank = process->rank();
  return absl::OkStatus();
}

absl::Status OfAnotherRun(const KinetoTrace& trace, const std::string& path, const Capture& capture) {
  const std::uint64_t start_ns = StartOf(capture);
  const bool before = trace.begin_ns < start_ns;
  const std::uint64_t apart_ns = before ? start_ns - trace.begin_ns : trace.begin_ns - start_ns;
  return absl::InvalidArgumentError(absl::StrCat(path, ": begins ", FormatDuration(apart_ns),
                                                 before ? " before " : " after ", capture.path(),
                                                 ", which has no event in its time: merge a trace of the same run"));
}

ChromeFrame FrameOf(const KinetoTrace& trace, const Capture& capture) {
  const std::int64_t shift_ns = static_cast<std::int64_t>(StartOf(capture)) - trace.base_ns;
  return {trace.before(), trace.after(), trace.has_events, shift_ns};
}

}  // namespace memoir
