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
#include "tools/analyze/summary/device_focus.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/device_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/loss_headlines.h"
#include "tools/view/capture/process_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/lives/leak_view.h"
#include "tools/view/oom/out_of_memory_text.h"
#include "tools/view/summary/steps_text.h"
#include "tools/view/summary/summary_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kIndent = 10;
constexpr std::size_t kNameInLine = 40;
// The columns of two lines that the line break and the indent may leave unused.
constexpr std::size_t kFindingSlack = 20;

std::size_t CountLines(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

// How many lines each part may have.
struct Detail {
  std::size_t lines = 3;     // lines of each grouping
  std::size_t findings = 3;  // lines about findings and losses
  bool others = true;        // true: shows the devices other than the largest
};

struct Share {
  std::string name;
  std::uint64_t bytes = 0;
};

std::string FactLine(const Terminal& terminal, std::string_view name, const std::string& text) {
  return Painted(terminal, Color::kBold, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

// Commands are never wrapped, because they would not work when pasted.
std::string CommandLine(const Terminal& terminal, std::string_view name, const std::string& command) {
  return Painted(terminal, Color::kDim, PaddedRight(name, kIndent)) + command + "\n";
}

std::string ProgramText(const Capture& capture, const Summary& summary, const Terminal& terminal) {
  const v1::ProcessInfo& info = capture.processes().front().info;
  const std::string program = info.program().empty() ? "(unnamed program)" : Escaped(info.program());
  std::string line = program;
  if (!info.torch_version().empty()) line += ", torch " + Escaped(info.torch_version());
  line += ", " + FormatDuration(summary.end_ns) + " recorded";
  if (const std::string steps = StepsText(summary); !steps.empty()) line += ", " + steps;
  if (const std::string simulated = SimulatedDeviceText(capture); !simulated.empty()) line += ", " + simulated;
  std::string text = Wrapped(line, terminal.width, 0) + "\n";
  if (text.starts_with(program)) text = Painted(terminal, Color::kBold, program) + text.substr(program.size());
  const Job job = DescribeJob(capture);
  const bool restarted = !job.attempts.empty() && job.attempts.front().restart > 0;
  const bool whole =
      std::ranges::all_of(job.attempts, [](const JobAttempt& attempt) { return attempt.missing.empty(); });
  if (job.processes <= 1 && !restarted && whole) return text;
  const std::string where = Wrapped(RenderProcesses(capture), terminal.width, 0);
  return text + (whole ? where : Painted(terminal, Color::kRed, where)) + "\n";
}

// Returns "162.1 MiB on cpu, step 1 (2.0012 s), at train.py:69 main".
std::string PeakText(const Capture& capture, const DeviceRow& device, const ReplayReport& report, std::size_t room) {
  const std::string label = DeviceLabel(capture, device.name, device.process);
  const bool unknown = UnknownMemory(report, device.process, device.name) != nullptr;
  std::string text = (unknown ? "at least " : "") + FormatBytes(device.peak_allocated_bytes) + " on " + label;
  const std::string instant = FormatMoment(device.peak_ns);
  if (device.peak_is_evicted) {
    return text + fmt::format(" at {}, in parts since evicted; at most {} after them", instant,
                              FormatBytes(device.newest_peak_bytes));
  }
  text += device.peak_step ? fmt::format(", step {} ({})", *device.peak_step, instant) : " at " + instant;
  text += PeakRangeText(device);
  if (device.peak_line.known()) {
    const std::string line = text + ", at " + ShownLine(device.peak_line, kNameInLine);
    return DisplayWidth(line) <= room ? line : text + ", at " + ShownPlace(device.peak_line, kNameInLine);
  }
  return device.peak_operator.empty() ? text : text + ", in " + Shortened(Escaped(device.peak_operator), kNameInLine);
}

// Returns "10.9 GiB, 85.8% allocated at the peak; 10.8 GiB stayed free", and more facts if there is room.
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

std::string NameOf(const Summary& summary, const SummaryRow& row, const ShownFiles& files) {
  if (summary.by == GroupBy::kModule) {
    const std::string layers = WithLayersMerged(row.module.path);
    // A path of nothing but numbers is useless, so the root is named: "Sequential.*".
    if (layers.empty() || layers.starts_with('*'))
      return ShownName(row.module.root) + (layers.empty() ? "" : "." + Escaped(layers));
    return ShownName(layers);
  }
  if (!row.source.known()) return ShownName(row.name);
  return Escaped(PlaceOf({std::string(files.NameOf(row.source.file)), row.source.function, row.source.line}));
}

// Returns the shares of one device's peak, largest first. Modules that differ only in the numbers of their paths have
// one share. Omits bytes without a module or line.
std::vector<Share> SharesOf(const Summary& summary, std::size_t device) {
  std::vector<std::string_view> names;
  for (const SummaryRow& row : summary.rows) {
    if (row.source.known()) names.push_back(row.source.file);
  }
  const ShownFiles files(names);
  std::vector<Share> shares;
  std::map<std::string, std::size_t> known;
  for (const SummaryRow& row : summary.rows) {
    if (row.kind != SummaryRow::Kind::kNamed || device >= row.by_device.size()) continue;
    if (row.by_device[device].bytes_at_peak == 0) continue;
    const auto [at, added] = known.try_emplace(NameOf(summary, row, files), shares.size());
    if (added) shares.push_back({at->first, 0});
    shares[at->second].bytes += row.by_device[device].bytes_at_peak;
  }
  std::ranges::stable_sort(shares, [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
  return shares;
}

// Explains "autograd detail" if its share is large.
std::string ExplainedName(const std::string& name, double percent) {
  constexpr double kLarge = 10;
  return name == "autograd detail" && percent >= kLarge ? name + " (activations' gradients)" : name;
}

// Returns the texts of the first `count` large shares. If `adds_up` is true, and the rest is half a percent or more,
// appends the rest as "others".
std::vector<std::string> ShareTexts(const std::vector<Share>& shares, std::size_t count, std::uint64_t peak,
                                    bool adds_up, bool explains) {
  std::vector<std::string> texts;
  std::uint64_t rest = peak;
  const auto percent = [&](std::uint64_t bytes) {
    return 100 * static_cast<double>(bytes) / static_cast<double>(peak);
  };
  const auto add = [&](const std::string& name, std::uint64_t bytes) {
    texts.push_back(fmt::format("{} {} {:.0f}%", name, FormatBytes(bytes), percent(bytes)));
  };
  for (std::size_t i = 0; i < std::min(count, shares.size()); ++i) {
    if (i > 0 && percent(shares[i].bytes) < 1) break;
    const std::string& name = shares[i].name;
    add(Shortened(explains ? ExplainedName(name, percent(shares[i].bytes)) : name, kNameInLine), shares[i].bytes);
    rest -= std::min(rest, shares[i].bytes);
  }
  if (adds_up && percent(rest) >= 0.5) add("others", rest);
  return texts;
}

// Joins the texts of shares, and breaks lines only between them.
std::string InLines(std::string_view name, const std::vector<std::string>& shares, std::size_t width) {
  std::string text, line = PaddedRight(name, kIndent);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i > 0 && DisplayWidth(line + ", " + shares[i]) > width) {
      text += line + ",\n";
      line = std::string(kIndent, ' ') + shares[i];
    } else {
      line += (i == 0 ? "" : ", ") + shares[i];
    }
  }
  return text + line + "\n";
}

// Returns "activation 89.9 MiB 55%, parameter 16.1 MiB 10%, others 56.1 MiB 35%": three shares and the others. Omits
// explanations, then the smallest shares, if they need more than `lines` lines. "" if no share has a name.
std::string SharesLine(const Summary& summary, std::size_t device, std::string_view name, std::size_t lines,
                       const Terminal& terminal) {
  const std::vector<Share> shares = SharesOf(summary, device);
  if (shares.empty()) return "";
  const std::uint64_t peak = summary.devices[device].peak_allocated_bytes;
  const bool adds_up = summary.by == GroupBy::kCategory;
  const auto with = [&](std::size_t count, bool explains) {
    return InLines(name, ShareTexts(shares, count, peak, adds_up, explains), terminal.width);
  };
  std::size_t count = 3;
  while (count > 1 && CountLines(with(count, false)) > lines) --count;
  std::string text = with(count, true);
  if (CountLines(text) > lines) text = with(count, false);
  return Painted(terminal, Color::kBold, text.substr(0, kIndent)) + text.substr(kIndent);
}

// Returns "peak of rank 0 cuda:0 61.2 GiB, and 6 other devices".
std::string OthersText(const Capture& capture, const Summary& summary, std::size_t largest) {
  std::vector<const DeviceRow*> others;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    // Leaves out devices with less than 1/100 of the largest peak, as the CPU often has if the program uses a GPU.
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

std::uint64_t BytesAtPeak(const Summary& by_category, std::size_t device, std::string_view category,
                          std::string_view detail) {
  std::uint64_t bytes = 0;
  for (const SummaryRow& row : by_category.rows) {
    if (row.category == category && row.detail == detail && device < row.by_device.size())
      bytes += row.by_device[device].bytes_at_peak;
  }
  return bytes;
}

// Adds "a second copy of the parameters, 1.2 GiB, made at serve.py:59", if it is part of the largest device's peak.
void AddSecondCopy(const PeakOwners& owners, std::vector<LossHeadline>& findings) {
  const Summary& summary = owners.by_category;
  if (summary.devices.empty()) return;
  const std::size_t device = LargestDevice(summary);
  const DeviceRow& row = summary.devices[device];
  const auto copied = std::ranges::find_if(
      owners.copied, [&](const CopiedParameters& one) { return one.process == row.process && one.device == row.name; });
  if (copied == owners.copied.end()) return;
  const std::uint64_t bytes = BytesAtPeak(summary, device, "PARAMETER", "second copy");
  if (bytes == 0) return;
  findings.push_back({SecondCopyText(bytes, copied->line), true});
}

// Returns the problems, worst first. `has_ending`: the summary's first line describes the program's end; omits it here.
std::vector<LossHeadline> FindingsOf(const Capture& capture, const PeakOwners& owners, bool has_ending) {
  std::vector<LossHeadline> findings;
  if (const std::vector<LeakGroup> leaks = GroupsOf(owners.leaks); !leaks.empty()) {
    const std::string more = leaks.size() == 1 ? "" : fmt::format("{} leaks, the largest: ", FormatCount(leaks.size()));
    findings.push_back({"leak? " + more + LeakText(capture, leaks.front()), true});
  }
  AddSecondCopy(owners, findings);
  std::vector<LossHeadline> losses = LossHeadlines(capture, owners.by_category.report);
  if (has_ending) std::erase_if(losses, [](const LossHeadline& loss) { return loss.is_end; });
  std::ranges::move(losses, std::back_inserter(findings));
  return findings;
}

std::string Findings(const std::vector<LossHeadline>& headlines, std::size_t most, const Terminal& terminal) {
  std::string text;
  // The worst problem is always shown, followed by the number of the others if there is no more room.
  const std::size_t shown = headlines.size() <= most ? headlines.size() : std::max<std::size_t>(most - 1, 1);
  const std::string more =
      FormatCounted(headlines.size() - shown, "more such line", "more such lines") + " in the tables";
  const bool in_line = shown < headlines.size() && most == 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const LossHeadline& line = headlines[i];
    // Prints at most two lines for each finding; `memoir show` prints it in full.
    const std::string whole = (line.is_loss ? "! " : "") + line.text;
    const std::size_t most_width = 2 * terminal.width - std::min<std::size_t>(terminal.width, kFindingSlack);
    const std::string behind = in_line ? "; " + more : "";
    const std::string cut = Wrapped(Shortened(whole, most_width - behind.size()) + behind, terminal.width, 2);
    text += (line.is_loss ? Painted(terminal, Color::kRed, cut) : cut) + "\n";
  }
  if (shown < headlines.size() && !in_line) text += Painted(terminal, Color::kRed, "! " + more) + "\n";
  return text;
}

// Returns true if the category has at least a third of the peak.
bool IsLarge(const Summary& by_category, std::size_t device, std::string_view category, std::string_view detail) {
  const std::uint64_t bytes = BytesAtPeak(by_category, device, category, detail);
  return bytes > 0 && bytes >= by_category.devices[device].peak_allocated_bytes / 3;
}

std::string NextCommands(const PeakOwners& owners, const TypedCommand& command, const Terminal& terminal) {
  const Summary& summary = owners.by_category;
  const auto next = [&](std::string_view name, const std::string& words) {
    return CommandLine(terminal, name, PrintedCommand(words + " " + command.capture));
  };
  if (!summary.out_of_memory.empty() || CountOutOfMemory(summary) > 0) {
    std::string text = next("errors", "check oom");
    if (!owners.leaks.leaks.empty()) text += next("leaked", "check leaks");
    if (std::ranges::any_of(summary.devices, [](const DeviceRow& device) { return device.checkpointing.has_value(); }))
      text += next("lower it", "show --by checkpoint");
    return text + next("tables", "show");
  }
  std::string text;
  if (!owners.leaks.leaks.empty()) text += next("leaked", "check leaks");
  if (!summary.devices.empty()) {
    const std::size_t device = LargestDevice(summary);
    const bool kept = IsLarge(summary, device, "ACTIVATION", "no backward came");
    if (kept && owners.leaks.leaks.empty()) text += next("kept by", "show --by category,line");
    if (!kept && owners.by_module.module_calls > 0 && IsLarge(summary, device, "ACTIVATION", ""))
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

std::string Body(const Capture& capture, const PeakOwners& owners, const Detail& detail, const Terminal& terminal) {
  const Summary& summary = owners.by_category;
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
    text += FactLine(terminal, "also", others);
  if (!device.peak_is_evicted) {
    text += SharesLine(summary, largest, "category", detail.lines, terminal);
    text += SharesLine(owners.by_module, largest, "module", detail.lines, terminal);
    text += SharesLine(owners.by_line, largest, "line", detail.lines, terminal);
  }
  return text + error;
}

}  // namespace

std::string RenderRunSummary(const Capture& capture, const PeakOwners& owners, const TypedCommand& command,
                             const Terminal& terminal, const CommandEnd& command_end) {
  const Summary& summary = owners.by_category;
  const std::string ending = EndingLine(capture, summary.endings, command_end, terminal);
  const std::string begin = ending + ProgramText(capture, summary, terminal);
  const std::vector<LossHeadline> headlines = FindingsOf(capture, owners, !ending.empty());
  const std::string end = NextCommands(owners, command, terminal);
  std::string text;
  for (const Detail& detail : {Detail{3, 3, true}, Detail{2, 3, true}, Detail{2, 2, true}, Detail{1, 2, true},
                               Detail{1, 2, false}, Detail{1, 1, false}}) {
    text = begin + Body(capture, owners, detail, terminal) + Findings(headlines, detail.findings, terminal) + end;
    if (CountLines(text) <= kLinesOfRunSummary) break;
  }
  return text;
}

}  // namespace memoir
