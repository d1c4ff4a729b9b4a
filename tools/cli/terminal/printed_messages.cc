#include "tools/cli/terminal/printed_messages.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tools/cli/terminal/exit_code.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

void WriteError(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

void PrintMessage(std::string_view line) { WriteError("memoir: " + Escaped(line) + "\n"); }

int Fail(const absl::Status& status) {
  PrintMessage(std::string(status.message()));
  return kExitError;
}

int FailUsage(std::string_view verb, std::string_view line) {
  PrintMessage(line);
  const std::string help = verb.empty() ? "memoir --help" : "memoir " + std::string(verb) + " --help";
  PrintMessage("see " + help);
  return kExitUsage;
}

void PrintReport(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.append(line.empty() ? "memoir:" : "memoir: ").append(line).append("\n");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  WriteError(lines);
}

int WriteOutput(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return kExitFine;
  PrintMessage(std::string("cannot write to standard output: ") + std::strerror(errno));
  return kExitError;
}

}  // namespace memoir
