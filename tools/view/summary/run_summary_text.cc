#include "tools/view/summary/run_summary_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/pass/layer_pattern.h"
#include "tools/analyze/summary/focus.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/device_text.h"
#include "tools/view/capture/job_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/loss_headlines.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/lives/leak_view.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/summary/steps_text.h"
#include "tools/view/summary/summary_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kIndent = 10;
constexpr std::size_t kNameInLine = 40;
// Of two lines: what their break and the indent may take.
constexpr std::size_t kFindingSlack = 20;

std::size_t CountLines(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

// How much of each line there is room for.
struct Detail {
  std::size_t lines = 3;     // of a grouping
  std::size_t findings = 3;  // what the recording lacks
  bool others = true;        // the devices beside the largest
};

struct Share {
  std::string name;
  std::uint64_t bytes = 0;
};

std::string FactLine(const Terminal& terminal, std::string_view name, const std::string& text) {
  return Painted(terminal, Color::kBold, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

// A command is never broken: it would not work when pasted.
std::string CommandLine(const Terminal& terminal, std::string_view name, const std::string& command) {
  return Painted(terminal, Color::kDim, PaddedRight(name, kIndent)) + command + "\n";
}

std::string WhatRan(const Capture& capture, const Summary& summary, const Terminal& terminal) {
  const v1::ProcessInfo& info = capture.processes().front().info;
  const std::string program = info.program().empty() ? "(unnamed program)" : Escaped(info.program());
  std::string line = program;
  if (!info.torch_version().empty()) line += ", torch " + Escaped(info.torch_version());
  line += ", " + FormatDuration(summary.end_ns) + " recorded";
  if (summary.steps > 0) line += ", " + StepsText(summary);
  if (const std::string simulated = SimulatedOn(capture); !simulated.empty()) line += ", " + simulated;
  std::string text = Wrapped(line, terminal.width, 0) + "\n";
  if (text.starts_with(program)) text = Painted(terminal, Color::kBold, program) + text.substr(program.size());
  const Job job = DescribeJob(capture);
  const bool restarted = !job.attempts.empty() && job.attempts.front().restart > 0;
  const bool whole = std::ranges::all_of(job.attempts, [](const Attempt& attempt) { return attempt.missing.empty(); });
  if (job.processes <= 1 && !restarted && whole) return text;
  const std::string where = Wrapped(RenderWhere(capture), terminal.width, 0);
  return text + (whole ? where : Painted(terminal, Color::kRed, where)) + "\n";
}

// "162.1 MiB on cpu, step 1 (2.0012 s), at train.py:69 main"
std::string PeakText(const Capture& capture, const DeviceRow& device, const ReplayReport& report, std::size_t room) {
  const std::string label = DeviceLabel(capture, device.name, device.process);
  const bool unknown = UnknownMemory(report, device.process, device.name) != nullptr;
  std::string text = (unknown ? "at least " : "") + FormatBytes(device.peak_allocated_bytes) + " on " + label;
  const std::string moment = FormatMoment(device.peak_ns);
  if (device.peak_is_folded) {
    return text + fmt::format(" at {}, in parts since evicted; at most {} after them", moment,
                              FormatBytes(device.newest_peak_bytes));
  }
  text += device.peak_step ? fmt::format(", step {} ({})", *device.peak_step, moment) : " at " + moment;
  if (!device.peak_range.empty()) text += ", range " + Shortened(Escaped(device.peak_range), kNameInLine);
  if (device.peak_line.known()) {
    const std::string line = text + ", at " + ShownLine(device.peak_line, kNameInLine);
    return DisplayWidth(line) <= room ? line : text + ", at " + ShownPlace(device.peak_line, kNameInLine);
  }
  return device.peak_operator.empty() ? text : text + ", in " + Shortened(Escaped(device.peak_operator), kNameInLine);
}

// "10.9 GiB, 85.8% allocated at the peak; 10.8 GiB stayed free", and as much else as there is room for.
std::string ReservedText(const DeviceRow& device, std::size_t room) {
  std::string text = FormatBytes(device.peak_reserved_bytes);
  if (const std::uint64_t then = device.reserved_bytes_at_peak; then > 0) {
    const std::string used = FormatShare(std::min(device.peak_allocated_bytes, then), then);
    text += then == device.peak_reserved_bytes
                ? ", " + used + " allocated at the peak"
                : fmt::format(" at most; {} at the peak, {} of it allocated", FormatBytes(then), used);
  }
  if (device.num_alloc_retries.value_or(0) > 0)
    text += "; " + FormatCounted(*device.num_alloc_retries, "retry", "retries");
  const auto add_if_fits = [&](const std::string& more) {
    if (DisplayWidth(text + more) <= room) text += more;
  };
  if (device.least_free) add_if_fits("; " + FormatBytes(*device.least_free) + " stayed free");
  if (device.outside_bytes > 0) add_if_fits("; " + FormatBytes(device.outside_bytes) + " non-PyTorch memory");
  return text;
}

std::string NameOf(const Summary& summary, const Row& row, const ShownFiles& files) {
  if (summary.by == GroupBy::kModule) {
    const std::string layers = WithLayersMerged(row.module.path);
    // "Sequential.*": a path of numbers alone says nothing.
    if (layers.empty() || layers.starts_with('*'))
      return ShownName(row.module.root) + (layers.empty() ? "" : "." + Escaped(layers));
    return ShownName(layers);
  }
  if (!row.source.known()) return ShownName(row.name);
  return Escaped(PlaceOf({std::string(files.NameOf(row.source.file)), row.source.function, row.source.line}));
}

// Of one device at its peak, largest first; modules of all layers together. What is of no module or line tells nobody
// where to look.
std::vector<Share> SharesOf(const Summary& summary, std::size_t device) {
  std::vector<std::string_view> names;
  for (const Row& row : summary.rows) {
    if (row.source.known()) names.push_back(row.source.file);
  }
  const ShownFiles files(names);
  std::vector<Share> shares;
  std::map<std::string, std::size_t> known;
  for (const Row& row : summary.rows) {
    if (row.kind != Row::Kind::kNamed || device >= row.by_device.size()) continue;
    if (row.by_device[device].bytes_at_peak == 0) continue;
    const auto [at, added] = known.try_emplace(NameOf(summary, row, files), shares.size());
    if (added) shares.push_back({at->first, 0});
    shares[at->second].bytes += row.by_device[device].bytes_at_peak;
  }
  std::ranges::stable_sort(shares, [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
  return shares;
}

// "activation 89.9 MiB 55%, parameter 16.1 MiB 10%", broken between the shares; "" where nothing has a name: the
// program called no module, or no stack was recorded.
// In at most so many lines, and no more than three shares.
std::string SharesLine(const Summary& summary, std::size_t device, std::string_view name, std::size_t lines,
                       const Terminal& terminal) {
  constexpr std::size_t kMostShares = 3;
  const std::vector<Share> shares = SharesOf(summary, device);
  const auto peak = static_cast<double>(summary.devices[device].peak_allocated_bytes);
  std::string text, line = PaddedRight(name, kIndent);
  for (std::size_t i = 0; i < std::min(kMostShares, shares.size()); ++i) {
    const double percent = 100 * static_cast<double>(shares[i].bytes) / peak;
    if (i > 0 && percent < 1) break;
    const std::string share =
        fmt::format("{} {} {:.0f}%", Shortened(shares[i].name, kNameInLine), FormatBytes(shares[i].bytes), percent);
    if (i > 0 && DisplayWidth(line + ", " + share) > terminal.width) {
      if (--lines == 0) break;
      text += line + ",\n";
      line = std::string(kIndent, ' ') + share;
    } else {
      line += (i == 0 ? "" : ", ") + share;
    }
  }
  if (shares.empty()) return "";
  text += line + "\n";
  return Painted(terminal, Color::kBold, text.substr(0, kIndent)) + text.substr(kIndent);
}

// "rank 0 cuda:0 61.2 GiB and 6 more, the smallest 3.0 MiB"
std::string OthersText(const Capture& capture, const Summary& summary, std::size_t largest) {
  std::vector<const DeviceRow*> others;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    // A hundredth of the largest, as of a host beside its GPU, is no news.
    const std::uint64_t bytes = summary.devices[i].peak_allocated_bytes;
    if (i != largest && bytes > 0 && bytes >= summary.devices[largest].peak_allocated_bytes / 100)
      others.push_back(&summary.devices[i]);
  }
  if (others.empty()) return "";
  std::ranges::stable_sort(others, [](const DeviceRow* a, const DeviceRow* b) {
    return std::pair(a->caching, a->peak_allocated_bytes) > std::pair(b->caching, b->peak_allocated_bytes);
  });
  std::string text = "peak of " + DeviceLabel(capture, others[0]->name, others[0]->process) + " " +
                     FormatBytes(others[0]->peak_allocated_bytes);
  if (others.size() > 1)
    text += fmt::format(", and {}", FormatCounted(others.size() - 1, "other device", "other devices"));
  return text;
}

// What is wrong, worst first: one line each.
std::vector<LossHeadline> FindingsOf(const Capture& capture, const PeakHolders& holders) {
  std::vector<LossHeadline> findings;
  if (const std::vector<LeakGroup> leaks = GroupsOf(holders.leaks); !leaks.empty()) {
    const std::string more = leaks.size() == 1 ? "" : fmt::format("{} leaks, the largest: ", FormatCount(leaks.size()));
    findings.push_back({"leak? " + more + LeakText(capture, leaks.front()), true});
  }
  std::vector<LossHeadline> losses = LossHeadlines(capture, holders.by_category.report);
  std::ranges::move(losses, std::back_inserter(findings));
  return findings;
}

std::string Findings(const std::vector<LossHeadline>& headlines, std::size_t most, const Terminal& terminal) {
  std::string text;
  // The worst is shown, however little room there is: then how many more there are stands behind it.
  const std::size_t shown = headlines.size() <= most ? headlines.size() : std::max<std::size_t>(most - 1, 1);
  const std::string more = fmt::format("{} more such lines in the tables", headlines.size() - shown);
  const bool in_line = shown < headlines.size() && most == 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const LossHeadline& line = headlines[i];
    // Two lines each at most, whatever it says: `memoir show` has it in full.
    const std::string whole = (line.is_loss ? "! " : "") + line.text;
    const std::size_t most_width = 2 * terminal.width - std::min<std::size_t>(terminal.width, kFindingSlack);
    const std::string behind = in_line ? "; " + more : "";
    const std::string cut = Wrapped(Shortened(whole, most_width - behind.size()) + behind, terminal.width, 2);
    text += (line.is_loss ? Painted(terminal, Color::kRed, cut) : cut) + "\n";
  }
  if (shown < headlines.size() && !in_line) text += Painted(terminal, Color::kRed, "! " + more) + "\n";
  return text;
}

// A third of the peak or more is worth a question of its own.
bool IsLarge(const Summary& by_category, std::size_t device, std::string_view category, std::string_view detail) {
  std::uint64_t bytes = 0;
  for (const Row& row : by_category.rows) {
    if (row.category == category && row.detail == detail && device < row.by_device.size())
      bytes += row.by_device[device].bytes_at_peak;
  }
  return bytes > 0 && bytes >= by_category.devices[device].peak_allocated_bytes / 3;
}

std::string NextCommands(const PeakHolders& holders, const TypedCommand& command, const Terminal& terminal) {
  const Summary& summary = holders.by_category;
  const auto next = [&](std::string_view name, const std::string& words) {
    return CommandLine(terminal, name, command.program + " " + words + " " + command.capture);
  };
  if (!summary.out_of_memory.empty() || CountOutOfMemory(summary) > 0) {
    std::string text = next("errors", "check oom");
    if (!holders.leaks.leaks.empty()) text += next("leaked", "check leaks");
    if (std::ranges::any_of(summary.devices, [](const DeviceRow& device) { return device.checkpointing.has_value(); }))
      text += next("lower it", "show --by checkpoint");
    return text + next("tables", "show");
  }
  std::string text;
  if (!holders.leaks.leaks.empty()) text += next("leaked", "check leaks");
  if (!summary.devices.empty()) {
    const std::size_t device = LargestDevice(summary);
    const bool kept = IsLarge(summary, device, "ACTIVATION", "no backward came");
    if (kept && holders.leaks.leaks.empty()) text += next("kept by", "show --by category,line");
    if (!kept && holders.by_module.module_calls > 0 && IsLarge(summary, device, "ACTIVATION", ""))
      text += next("lower it", "show --by checkpoint");
  }
  text += next("tables", "show");
  if (command.has_report) text += next("browser", "report");
  return text;
}

std::string NothingLine(const Summary& summary) {
  const std::string unknown = CudaMemoryNotKnown(summary.report);
  return "No allocation was recorded" + std::string(unknown.empty() ? "" : "; CUDA memory is not known") + ".\n";
}

std::string Body(const Capture& capture, const PeakHolders& holders, const Detail& detail, const Terminal& terminal) {
  const Summary& summary = holders.by_category;
  const std::string error = RenderOutOfMemory(capture, summary, kLinesOfRunSummary, "", terminal);
  if (!error.empty() && !summary.out_of_memory.empty()) return error;
  if (summary.devices.empty() || summary.devices[LargestDevice(summary)].peak_allocated_bytes == 0)
    return NothingLine(summary) + error;
  const std::size_t largest = LargestDevice(summary);
  const DeviceRow& device = summary.devices[largest];
  const std::size_t room = terminal.width - std::min(terminal.width, kIndent);
  std::string text = FactLine(terminal, "peak", PeakText(capture, device, summary.report, room));
  if (device.caching) text += FactLine(terminal, "reserved", ReservedText(device, room));
  if (const std::string others = OthersText(capture, summary, largest); detail.others && !others.empty())
    text += FactLine(terminal, "beside", others);
  if (!device.peak_is_folded) {
    text += SharesLine(summary, largest, "category", detail.lines, terminal);
    text += SharesLine(holders.by_module, largest, "module", detail.lines, terminal);
    text += SharesLine(holders.by_line, largest, "line", detail.lines, terminal);
  }
  return text + error;
}

}  // namespace

std::string RenderRunSummary(const Capture& capture, const PeakHolders& holders, const TypedCommand& command,
                             const Terminal& terminal) {
  const Summary& summary = holders.by_category;
  const std::string begin = WhatRan(capture, summary, terminal);
  const std::vector<LossHeadline> headlines = FindingsOf(capture, holders);
  const std::string end = NextCommands(holders, command, terminal);
  std::string text;
  for (const Detail& detail : {Detail{3, 3, true}, Detail{2, 3, true}, Detail{2, 2, true}, Detail{1, 2, true},
                               Detail{1, 2, false}, Detail{1, 1, false}}) {
    text = begin + Body(capture, holders, detail, terminal) + Findings(headlines, detail.findings, terminal) + end;
    if (CountLines(text) <= kLinesOfRunSummary) break;
  }
  return text;
}

}  // namespace memoir
