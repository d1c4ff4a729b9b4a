#include "tools/view/live/live_text.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "tools/view/live/level_plot.h"
#include "tools/view/live/live_words.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using LinesByNumber = std::vector<std::string>;

constexpr std::size_t kMostRows = 4;  // of categories and of modules, without the row "others"
constexpr double kStaleSeconds = 3;   // the recorder writes once a second

void Append(LinesByNumber& to, LinesByNumber from) { std::ranges::move(from, std::back_inserter(to)); }

LinesByNumber Split(const std::string& text) {
  LinesByNumber lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

LinesByNumber WrappedLines(const std::string& text, const Terminal& terminal, std::size_t indent, Color color) {
  LinesByNumber lines = Split(Wrapped(text, terminal.width, indent));
  for (std::string& line : lines) line = Painted(terminal, color, line);
  return lines;
}

// Returns "data 5 s old" if the process runs, but its newest data are older than kStaleSeconds. Otherwise empty.
std::string AgeText(const LiveProcess& process) {
  if (process.age_s < kStaleSeconds || process.state != LiveState::kRuns) return "";
  return fmt::format("data {:.0f} s old", process.age_s);
}

std::string Joined(std::vector<std::string> parts) {
  std::erase(parts, "");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string FiguresOf(const LiveMemory& device) {
  std::string text = fmt::format("allocated {}", FormatBytes(device.allocated));
  if (device.step_peak > 0) text += fmt::format(" (step's peak {})", FormatBytes(device.step_peak));
  if (device.caching) text += fmt::format(", reserved {}", FormatBytes(device.reserved));
  if (device.headroom && device.total)
    text += fmt::format(", headroom {} of {}", FormatBytes(*device.headroom), FormatBytes(*device.total));
  return text;
}

// Names the step that the rows describe: the last complete step, or an older step if operators were not recorded since.
std::string RowsStepText(const LiveProcess& process, const LiveMemory& device) {
  const bool is_older = process.step > device.rows_step + 1;
  return fmt::format("  at the peak of step {}, {}{}:", FormatCount(device.rows_step),
                     is_older ? "the last one recorded in full, " : "", FormatBytes(device.rows_bytes));
}

// Keeps the first rows, and adds a row for the rest of `all`. If only one row is left, it is kept, because a row for
// the rest would take as much room.
std::vector<LiveShare> WithOthers(std::vector<LiveShare> rows, std::uint64_t all) {
  if (rows.size() <= kMostRows + 1) return rows;
  rows.resize(kMostRows);
  for (const LiveShare& row : rows) all -= std::min(all, row.bytes);
  rows.push_back({"others", all});
  return rows;
}

// Categories are on the left, modules on the right. Each column adds up to the total.
LinesByNumber RowLines(const LiveProcess& process, const LiveMemory& device, const Terminal& terminal) {
  if (device.categories.empty()) return {};
  LinesByNumber lines = {Shortened(RowsStepText(process, device), terminal.width)};
  const std::size_t half = (terminal.width - 2) / 2;
  const std::vector<LiveShare> categories = WithOthers(device.categories, device.rows_bytes);
  const std::vector<LiveShare> modules = WithOthers(device.modules, device.rows_bytes);
  const auto cell = [&](const std::vector<LiveShare>& rows, std::size_t at) -> std::string {
    if (at >= rows.size()) return "";
    const std::string share = FormatShare(rows[at].bytes, device.rows_bytes);
    const std::string figure = FormatBytes(rows[at].bytes) + PaddedLeft(share, 6);
    const std::size_t room = half - 3 - figure.size();
    return "  " + PaddedRight(Shortened(ShownName(rows[at].name), room - 1), room) + figure;
  };
  for (std::size_t i = 0; i <= kMostRows; ++i) {
    const std::string left = cell(categories, i), right = cell(modules, i);
    if (left.empty() && right.empty()) break;
    lines.push_back(right.empty() ? left : PaddedRight(left, half) + right);
  }
  return lines;
}

LinesByNumber DeviceLines(const LiveMemory& device, const Terminal& terminal, std::size_t plot_rows) {
  LinesByNumber lines = WrappedLines(Escaped(device.name) + "  " + FiguresOf(device), terminal, 2, Color::kBold);
  const std::uint64_t capacity = device.caching ? device.total.value_or(0) : 0;
  Append(lines, LevelPlot(device.levels, capacity, terminal.width, plot_rows));
  return lines;
}

LinesByNumber HeaderOf(const LiveProcess& process, const Terminal& terminal) {
  const std::string who = Joined({Escaped(process.program) + ", " + LiveName(process), LiveStateText(process),
                                  LiveStepText(process), LiveLevelText(process), AgeText(process)});
  const bool bad = process.state == LiveState::kDied;
  LinesByNumber lines = WrappedLines(who, terminal, 2, bad ? Color::kRed : Color::kBold);
  if (!process.simulated.empty())
    Append(lines, WrappedLines("on a SIMULATED GPU: " + Escaped(process.simulated), terminal, 2, Color::kYellow));
  return lines;
}

LinesByNumber FindingLines(const LiveProcess& process, const Terminal& terminal) {
  LinesByNumber lines;
  for (const LiveFinding& finding : LiveFindings(process))
    Append(lines, WrappedLines("! " + finding.text, terminal, 2, Color::kRed));
  return lines;
}

// Describes the rate of events, the reader's share of a core, and the part of the time for which categories and modules
// are known.
LinesByNumber ReadingLines(const LiveFigures& figures, const LiveProcess& process, const Terminal& terminal) {
  std::string text = FormatCount(static_cast<std::uint64_t>(process.events_per_second)) + " events a second";
  if (figures.reader_share > 0) text += fmt::format(", read with {:.1f}% of a core", 100 * figures.reader_share);
  if (process.full_share < 0.99)
    text += fmt::format("; categories and modules from {:.0f}% of the time (--cpu)", 100 * process.full_share);
  if (process.begun_late) text += "; blocks from before the first keyframe read have no category";
  return WrappedLines(text, terminal, 2, Color::kDim);
}

LinesByNumber ProcessTable(const LiveFigures& figures, const Terminal& terminal, std::size_t most) {
  TextTable table({"process", "step", "allocated", "reserved", "headroom", "state"});
  const std::vector<const LiveProcess*> processes = ProcessesWorstFirst(figures);
  for (std::size_t i = 0; i < std::min(most, processes.size()); ++i) {
    const LiveProcess& process = *processes[i];
    std::uint64_t allocated = 0, reserved = 0;
    std::optional<std::uint64_t> headroom;
    for (const LiveMemory* device : DevicesInFocus(process)) {
      allocated += device->allocated;
      reserved += device->reserved;
      if (device->headroom) headroom = std::min(headroom.value_or(~std::uint64_t{0}), *device->headroom);
    }
    const std::string state =
        LiveFindings(process).empty() ? ToString(process.state) : fmt::format("{} !", ToString(process.state));
    table.AddRow({LiveName(process), process.step_source == StepSource::kNone ? "-" : FormatCount(process.step),
                  FormatBytes(allocated), FormatBytes(reserved), headroom ? FormatBytes(*headroom) : "-", state});
  }
  LinesByNumber lines = Split(table.Render(terminal, 0));
  if (processes.size() > most) lines.push_back(fmt::format("and {} more", FormatCount(processes.size() - most)));
  return lines;
}

std::string ClockText(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm time{};
  char text[16] = "";
  if (localtime_r(&seconds, &time) != nullptr) std::strftime(text, sizeof text, "%H:%M:%S", &time);
  return text;
}

std::string HeadLine(const LiveFigures& figures, const Terminal& terminal) {
  const std::string clock = ClockText(figures.time_ns);
  const std::size_t room = terminal.width - clock.size() - 1;
  return PaddedRight(Shortened("memoir live " + Escaped(figures.folder), room), room) + " " + clock;
}

// Returns the lines of the shown devices, with plots as high as the room allows.
LinesByNumber AllDeviceLines(const LiveProcess& process, const Terminal& terminal, std::size_t room) {
  const std::vector<const LiveMemory*> devices = DevicesInFocus(process);
  LinesByNumber lines;
  if (devices.empty()) return {"  nothing is allocated yet"};
  std::size_t fixed = 0;
  for (const LiveMemory* device : devices) fixed += 1 + RowLines(process, *device, terminal).size();
  constexpr std::size_t kHighest = 6, kLowest = 2;
  const std::size_t plot = std::clamp(room > fixed ? (room - fixed) / devices.size() : kLowest, kLowest, kHighest);
  for (const LiveMemory* device : devices) {
    Append(lines, DeviceLines(*device, terminal, plot));
    Append(lines, RowLines(process, *device, terminal));
  }
  return lines;
}

}  // namespace

std::vector<std::string> RenderLiveScreen(const LiveFigures& figures, const Terminal& terminal,
                                          const LiveScreenOptions& options) {
  const std::vector<const LiveProcess*> processes = ProcessesWorstFirst(figures);
  LinesByNumber lines = {Painted(terminal, Color::kDim, HeadLine(figures, terminal))};
  LinesByNumber bottom;
  if (!options.message.empty()) Append(bottom, WrappedLines(options.message, terminal, 2, Color::kGreen));
  if (!options.keys.empty()) bottom.push_back(Painted(terminal, Color::kDim, Shortened(options.keys, terminal.width)));
  if (!processes.empty()) {
    if (processes.size() > 1) {
      const std::size_t third = options.height == 0 ? processes.size() : std::max<std::size_t>(options.height / 3, 3);
      Append(lines, ProcessTable(figures, terminal, third));
    }
    const LiveProcess& worst = *processes.front();
    Append(lines, HeaderOf(worst, terminal));
    const LinesByNumber findings = FindingLines(worst, terminal), reading = ReadingLines(figures, worst, terminal);
    const std::size_t used = lines.size() + findings.size() + reading.size() + bottom.size();
    const std::size_t height = options.height == 0 ? 40 : options.height;
    Append(lines, AllDeviceLines(worst, terminal, height > used ? height - used : 0));
    // Findings are shown even if the terminal has few lines.
    const std::size_t below = findings.size() + bottom.size();
    if (options.height != 0 && lines.size() + below > options.height)
      lines.resize(std::max<std::size_t>(options.height > below ? options.height - below : 1, 1));
    Append(lines, findings);
    if (options.height == 0 || lines.size() + reading.size() + bottom.size() <= options.height) Append(lines, reading);
  }
  if (options.height != 0 && lines.size() + bottom.size() > options.height)
    lines.resize(options.height > bottom.size() ? options.height - bottom.size() : 0);
  Append(lines, bottom);
  return lines;
}

std::string RenderLiveLines(const LiveFigures& figures, std::size_t top) {
  const std::vector<const LiveProcess*> processes = ProcessesWorstFirst(figures);
  const std::string clock = ClockText(figures.time_ns);
  std::string text;
  for (std::size_t i = 0; i < std::min(top, processes.size()); ++i) {
    const LiveProcess& process = *processes[i];
    text += clock + " " +
            Joined({LiveName(process) + " " + Escaped(process.program), LiveStateText(process), LiveStepText(process),
                    LiveLevelText(process), AgeText(process)});
    for (const LiveMemory* device : DevicesInFocus(process)) {
      text += fmt::format("; {} {}", Escaped(device->name), FiguresOf(*device));
      if (const std::string outlook = LiveOutlook(*device); !outlook.empty()) text += ", " + outlook;
    }
    text += '\n';
  }
  if (processes.size() > top) text += fmt::format("{} and {} more\n", clock, FormatCount(processes.size() - top));
  return text;
}

}  // namespace memoir
