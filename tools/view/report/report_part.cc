#include "tools/view/report/report_part.h"

#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

std::string WindowText(const SelectionWindow& window, const ReportWhole& whole) {
  switch (window.kind) {
    case SelectionWindow::Kind::kAll:
      return "";
    case SelectionWindow::Kind::kRange:
      return "user range " + Escaped(window.range);
    case SelectionWindow::Kind::kSteps:
      return fmt::format("steps {}:{} of {}", window.first_step, window.last_step, FormatCount(whole.steps));
    case SelectionWindow::Kind::kTime:
      return fmt::format("{} to {} of {}", FormatMoment(window.begin_ns),
                         FormatMoment(std::min(window.end_ns, whole.end_ns)), FormatMoment(whole.end_ns));
  }
  return "";
}

std::string BlocksText(const Selection& selection) {
  if (selection.takes_all_blocks()) return "";
  std::string text = "blocks";
  if (!selection.module.empty()) text += " of modules " + Escaped(selection.module);
  if (selection.min_bytes > 0)
    text += (selection.module.empty() ? " of " : ", of ") + FormatBytes(selection.min_bytes) + " or more";
  return text;
}

std::string DevicesText(const Selection& selection) {
  std::string text = selection.rank ? fmt::format("rank {}", *selection.rank) : "";
  if (selection.device) text += (text.empty() ? "device " : ", device ") + *selection.device;
  return text;
}

}  // namespace

std::string ReportPart::text() const {
  std::vector<std::string> parts;
  for (const std::string* part : {&devices, &window, &blocks}) {
    if (!part->empty()) parts.push_back(*part);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

ReportPart PartOf(const ReportContent& report, const Selection& selection, const std::string& options) {
  const ReportWhole& whole = report.whole;
  ReportPart part = {WindowText(selection.window, whole), BlocksText(selection), DevicesText(selection), options, {}};
  if (!part.window.empty())
    part.notes.emplace_back(
        "Every figure covers this window. Blocks that were live when it began count from its begin; they are in rows "
        "\"(before the window)\" if the code that allocated them is not shown.");
  if (whole.processes_in_part < whole.processes)
    part.notes.push_back(fmt::format("{} of {} have no event in it and are left out.",
                                     FormatCount(whole.processes - whole.processes_in_part),
                                     FormatCounted(whole.processes, "process", "processes")));
  if (whole.windows > 1)
    part.notes.push_back(
        fmt::format("The program has it {} times: tables and the peak cover these, curves also the time between.",
                    FormatCount(whole.windows)));
  if (!part.blocks.empty())
    part.notes.emplace_back(
        "Active and reserved bytes, the map of segments, and the checks oom, frag and balance cover all blocks, "
        "because the allocator has only totals. Calls of operators and modules are counted also if no such block was "
        "allocated in them.");
  return part;
}

Json PartJson(const ReportPart& part) {
  if (part.text().empty()) return nullptr;
  return {{"text", part.text()},
          {"window", part.window},
          {"blocks", part.blocks},
          {"options", part.options},
          {"notes", part.notes}};
}

}  // namespace memoir
