#include "tools/cli/check/check_analyses.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"
#include "tools/model/import_source.h"
#include "tools/view/accounting/balance_view.h"
#include "tools/view/host/host_view.h"
#include "tools/view/lives/leak_view.h"
#include "tools/view/oom/out_of_memory_json.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/segments/fragmentation_view.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Returns one line for a capture without out-of-memory errors, with the least free memory of all devices.
std::string NoOutOfMemoryLine(const Capture& capture, const Summary& summary) {
  std::optional<std::uint64_t> least;
  for (const DeviceRow& device : summary.devices) {
    if (device.least_free) least = std::min(least.value_or(*device.least_free), *device.least_free);
  }
  return NoOutOfMemoryKnown(capture, summary.report) +
         (least ? "; at least " + FormatBytes(*least) + " were free on a GPU" : "") + "\n";
}

std::string MoreHint(const std::string& words) { return "more: " + PrintedCommand(words) + "\n"; }

absl::StatusOr<CheckResult> CheckOom(CheckAnalyses& analyses, const CheckContext& shown, bool brief) {
  const auto& summary = analyses.summary();
  if (!summary.ok()) return summary.status();
  CheckResult checked;
  checked.found = CountOutOfMemory(*summary) > 0;
  if (shown.arguments.json) checked.json = CheckOutOfMemoryJson(analyses.capture(), *summary);
  if (checked.found) {
    checked.text = RenderOutOfMemoryErrors(analyses.capture(), *summary, shown.top(), shown.terminal);
    const std::string by = IsImported(analyses.capture()) ? DefaultGrouping(analyses.capture()) : "module";
    // After an error of torch's own allocator, all live blocks are known and can be shown. After other errors, the
    // balance of the whole device shows more.
    const bool of_torch = std::ranges::any_of(summary->out_of_memory,
                                              [](const OutOfMemory& error) { return !error.refusal.has_value(); });
    if (!summary->out_of_memory.empty())
      checked.text +=
          "\n" + MoreHint((of_torch ? "show --at oom --by " + by : "check balance --at oom") + " " + shown.path);
    if (std::ranges::any_of(summary->out_of_memory,
                            [of_torch](const OutOfMemory& error) { return of_torch && error.unaccounted > 0; }))
      checked.text += MoreHint("check balance --at oom " + shown.path);
    if (std::ranges::any_of(summary->out_of_memory, [](const OutOfMemory& error) { return error.leaking.has_value(); }))
      checked.text += MoreHint("check leaks " + shown.path);
    if (std::ranges::any_of(summary->devices, [](const DeviceRow& row) { return row.checkpointing.has_value(); }))
      checked.text += MoreHint("show --by checkpoint " + shown.path);
  } else {
    checked.text = brief ? NoOutOfMemoryLine(analyses.capture(), *summary)
                         : RenderNoOutOfMemory(analyses.capture(), *summary, shown.terminal);
  }
  return checked;
}

absl::StatusOr<CheckResult> CheckFrag(CheckAnalyses& analyses, const CheckContext& shown, bool brief) {
  const auto& fragmentation = analyses.fragmentation();
  if (!fragmentation.ok()) return fragmentation.status();
  CheckResult checked;
  checked.found = HasFragmentedDevice(*fragmentation);
  if (shown.arguments.json) checked.json = FragmentationJson(analyses.capture(), *fragmentation);
  checked.text = RenderFragmentation(analyses.capture(), *fragmentation, shown.top(), shown.terminal);
  if (!checked.found && brief) checked.text = FragmentationLine(analyses.capture(), *fragmentation) + "\n";
  if (!checked.found) return checked;
  const auto most = std::ranges::max_element(fragmentation->devices, {},
                                             [](const FragmentedDevice& device) { return device.peak.unusable; });
  checked.text =
      "\n" + checked.text + "\n" +
      MoreHint(fmt::format("show --at {} --by segment {}", FormatAt(most->peak.ns, most->peak.until_ns), shown.path));
  return checked;
}

// Names the device sample from which the figures are taken.
std::string InstantName(const std::string& at) {
  if (at == "peak") return "its fullest sample";
  if (at == "start") return "its first sample";
  if (at == "end") return "its last sample";
  if (at == "oom") return "its last refused allocation";
  return "the newest sample before " + at + ",";
}

absl::StatusOr<CheckResult> CheckBalance(CheckAnalyses& analyses, const CheckContext& shown, bool brief) {
  const auto& balance = analyses.balance();
  if (!balance.ok()) return balance.status();
  CheckResult checked;
  checked.found = std::ranges::any_of(balance->devices, [](const DeviceBalance& device) { return device.IsFinding(); });
  if (shown.arguments.json) checked.json = BalanceJson(analyses.capture(), *balance);
  if (brief && !checked.found) {
    checked.text = BalanceLine(analyses.capture(), *balance) + "\n";
    return checked;
  }
  BalanceTextOptions how;
  const std::string instant = InstantName(shown.asked.at_text);
  how.instant = instant;
  if (shown.arguments.top) how.top = *shown.arguments.top;
  if (shown.arguments.top == 0u) how.tables = 0;
  checked.text = RenderBalance(analyses.capture(), *balance, how, shown.terminal);
  const bool asked_for_start = shown.asked.at_text == "start";
  if (checked.found)
    checked.text = "\n" + checked.text + "\n" +
                   MoreHint(fmt::format("check balance --at {} {}", asked_for_start ? "end" : "start", shown.path));
  return checked;
}

absl::StatusOr<CheckResult> CheckLeaks(CheckAnalyses& analyses, const CheckContext& shown, bool brief) {
  const auto& found = analyses.leaks();
  if (!found.ok()) return found.status();
  const auto& [leaks, holders] = *found;
  CheckResult checked;
  checked.found = !leaks.leaks.empty();
  if (shown.arguments.json) checked.json = LeaksJson(analyses.capture(), leaks, holders, shown.path);
  checked.text = RenderLeaks(analyses.capture(), leaks, holders, shown.top(), shown.path, shown.terminal);
  if (checked.found && brief) checked.text = "\n" + checked.text;
  return checked;
}

absl::StatusOr<CheckResult> CheckHost(CheckAnalyses& analyses, const CheckContext& shown, bool brief) {
  const auto& host = analyses.host();
  if (!host.ok()) return host.status();
  CheckResult checked;
  checked.found = host->has_findings();
  if (shown.arguments.json) checked.json = HostJson(analyses.capture(), *host);
  if (brief && !checked.found) {
    checked.text = HostLine(*host) + "\n";
    return checked;
  }
  checked.text = RenderHost(analyses.capture(), *host, shown.top(), shown.path, shown.terminal);
  return checked;
}

}  // namespace

const Task<absl::StatusOr<Summary>>& CheckAnalyses::StartSummary() {
  if (!summary_) summary_.emplace(AnalyzeSummary(categories_, options_));
  return *summary_;
}

const Task<absl::StatusOr<Fragmentation>>& CheckAnalyses::StartFragmentation() {
  if (!fragmentation_) fragmentation_.emplace(AnalyzeFragmentation(replays_, options_));
  return *fragmentation_;
}

const Task<absl::StatusOr<Balance>>& CheckAnalyses::StartBalance() {
  if (!balance_) balance_.emplace(AnalyzeBalance(replays_, options_, at_));
  return *balance_;
}

const Task<absl::StatusOr<LeakAnswer>>& CheckAnalyses::StartLeaks() {
  if (!leaks_) leaks_.emplace(AnalyzeLeaks(categories_, options_));
  return *leaks_;
}

const Task<absl::StatusOr<HostMemoryUse>>& CheckAnalyses::StartHost() {
  if (!host_) host_.emplace(AnalyzeHostMemory(replays_, options_));
  return *host_;
}

void CheckAnalyses::Start(std::string_view check) {
  if (check == "oom") StartSummary();
  if (check == "frag") StartFragmentation();
  if (check == "leaks") StartLeaks();
  if (check == "host") StartHost();
  if (check == "balance") StartBalance();
}

absl::StatusOr<CheckResult> RunCheck(const std::string& name, CheckAnalyses& analyses, const CheckContext& shown,
                                     bool brief) {
  if (name == "oom") return CheckOom(analyses, shown, brief);
  if (name == "frag") return CheckFrag(analyses, shown, brief);
  if (name == "leaks") return CheckLeaks(analyses, shown, brief);
  if (name == "host") return CheckHost(analyses, shown, brief);
  return CheckBalance(analyses, shown, brief);
}

}  // namespace memoir
