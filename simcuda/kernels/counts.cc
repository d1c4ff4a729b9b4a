#include "simcuda/kernels/counts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "simcuda/kernels/kernels.h"
#include "simcuda/kernels/unknown_shapes.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

using Rows = std::vector<std::pair<std::uint64_t, std::string>>;

Rows StubRows() {
  Rows rows;
  for (const std::span<StubCall> table : StubTables()) {
    for (const StubCall& stub : table) {
      if (const std::uint64_t calls = stub.calls.load(); calls > 0) rows.emplace_back(calls, stub.name);
    }
  }
  return rows;
}

void AppendRows(Rows rows, const char* what, std::string& text) {
  std::ranges::sort(rows, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a < b; });
  for (const auto& [count, name] : rows) {
    text += std::to_string(getpid()) + "\t" + what + "\t" + std::to_string(count) + "\t" + name + "\n";
  }
}

void PrintUnknownShapes() {
  const char* const quiet = std::getenv("MEMOIR_QUIET");
  if (quiet != nullptr && *quiet != '\0' && *quiet != '0') return;
  if (UnknownShapes().empty()) return;
  PrintMessage(UnknownShapesLine(TheMachine().configuration().takes_most));
}

// Programs that only inherited LD_PRELOAD (a shell, a compiler) made no call, and write nothing.
__attribute__((destructor)) void WriteCountsAtExit() {
  if (std::getenv("MEMOIR_SIM_COUNTS") != nullptr) WriteCounts();
  PrintUnknownShapes();
}

}  // namespace

std::uint64_t CallsOfStub(const std::string& name) {
  for (const std::span<StubCall> table : StubTables()) {
    for (const StubCall& stub : table) {
      if (name == stub.name) return stub.calls.load();
    }
  }
  return 0;
}

void WriteCounts() {
  std::string text;
  AppendRows(LaunchedKernels(), "launch", text);
  AppendRows(StubRows(), "call", text);
  AppendRows(UnknownShapes(), "unknown", text);
  const char* const path = std::getenv("MEMOIR_SIM_COUNTS");
  if (text.empty() || path == nullptr || *path == '\0') return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written)
    PrintMessage("cannot write MEMOIR_SIM_COUNTS=" + std::string(path) + "; name a file in a folder you may write to");
  if (file >= 0) close(file);
}

}  // namespace memoir::simcuda
