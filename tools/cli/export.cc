// memoir export: a capture in other forms. So far: events, as JSON lines.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/event_stream.h"
#include "tools/cli/arguments.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/message.h"
#include "tools/cli/nearest.h"
#include "tools/cli/progress.h"
#include "tools/cli/ring_merge.h"
#include "tools/cli/verbs.h"
#include "tools/view/event_json.h"

namespace memoir {
namespace {

const VerbHelp kHelp = {
    .verb = "export",
    .usage = "export events [-o FILE] CAPTURE",
    .description = "Write a capture in another form. events: JSON lines, one event a line (docs/json.md).",
    .examples =
        "  memoir export events run7 -o events.jsonl\n"
        "  memoir export events run7 | grep '\"event\":\"allocate\"' | head\n",
};

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string FixFor(int error) {
  switch (error) {
    case ENOENT:
      return "; make its folder first";
    case EISDIR:
      return "; name a file in it";
    case ENOSPC:
    case EDQUOT:
      return "; make room there, or write to another place";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a place where you may write";
    default:
      return "";
  }
}

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError("cannot write " + path + ": " + std::strerror(error) + FixFor(error));
}

absl::Status ExportEvents(const Capture& capture, std::FILE* file, const std::string& path) {
  int failed = 0;  // errno of the first write that did
  EventJsonWriter writer(capture, [&](std::string_view lines) {
    if (failed == 0 && std::fwrite(lines.data(), 1, lines.size(), file) != lines.size()) failed = errno;
  });
  Progress progress("exporting");
  EventStreamOptions options;
  options.progress = progress.callback();
  const auto report = StreamEvents(capture, options, writer);
  if (!report.ok()) return report.status();
  writer.Flush();
  if (std::fflush(file) != 0 && failed == 0) failed = errno;
  if (failed != 0) return CannotWrite(path, failed);
  for (const Damage& damage : report->damage) Say("damaged: " + ToString(damage));
  return absl::OkStatus();
}

absl::Status Export(const std::string& path, const std::string& output) {
  const auto capture = OpenMerged(path, [](const std::string& line) { Say(line); });
  if (!capture.ok()) return capture.status();
  const bool to_stdout = output.empty() || output == "-";
  const File file(to_stdout ? stdout : std::fopen(output.c_str(), "wb"));
  if (file == nullptr) return CannotWrite(output, errno);
  return ExportEvents(*capture, file.get(), to_stdout ? "standard output" : output);
}

}  // namespace

int ExportVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  std::string what, capture, output;
  app->add_option("WHAT", what, "events");
  app->add_option("CAPTURE", capture, "folder of the capture");
  app->add_option("-o,--output", output, "file to write [standard output]");
  if (const auto code = ParseArguments(*app, "export", arguments)) return *code;
  const std::vector<std::string> known = {"events"};
  if (what.empty()) return FailUsage("export", "what to export? memoir export events CAPTURE");
  if (what != known.front())
    return FailUsage("export", "cannot export '" + what + "', only events" + DidYouMean(what, known));
  if (capture.empty()) return FailUsage("export", "no capture given: memoir export events CAPTURE");
  const absl::Status status = Export(capture, output);
  return status.ok() ? kExitFine : Fail(status);
}

}  // namespace memoir
