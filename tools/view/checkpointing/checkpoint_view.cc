#include "tools/view/checkpointing/checkpoint_view.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/text_table.h"
#include "tools/view/terminal/typed_word.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 48;

// Returns "layers.* Block ×12".
std::string NameOf(const CheckpointRow& row) {
  std::string name = ShownName(row.name);
  if (row.class_name != row.name) name += " " + ShownName(row.class_name);
  if (row.modules > 1) name += fmt::format(" ×{}", FormatCount(row.modules));
  return name;
}

// Returns the number of printed rows. Most modules would free nothing, so only modules that would free at least 1/100
// of the peak have a row. The first row is always printed.
std::size_t Shown(const CheckpointDevice& device, std::size_t top) {
  if (top == 0) return device.rows.size();
  const auto frees = std::ranges::count_if(device.rows, [&](const CheckpointRow& row) {
    return row.freed_bytes > 0 && static_cast<std::uint64_t>(row.freed_bytes) >= device.peak_bytes / 100;
  });
  return std::min({device.rows.size(), top, std::max<std::size_t>(1, static_cast<std::size_t>(frees))});
}

std::string RowTable(const CheckpointDevice& device, std::size_t top, const Terminal& terminal) {
  const bool any_already = std::ranges::any_of(device.rows, [](const CheckpointRow& row) { return row.already > 0; });
  std::vector<std::string> titles = {"module", "frees", "share", "peak would be", "kept", "again", "calls"};
  if (any_already) titles.emplace_back("already");
  TextTable table(std::move(titles));
  const std::size_t shown = Shown(device, top);
  for (std::size_t i = 0; i < shown; ++i) {
    const CheckpointRow& row = device.rows[i];
    const std::uint64_t freed = row.freed_bytes > 0 ? static_cast<std::uint64_t>(row.freed_bytes) : 0;
    std::vector<std::string> cells = {NameOf(row),
                                      row.freed_bytes < 0 ? FormatSignedBytes(row.freed_bytes) : FormatBytes(freed),
                                      FormatShare(freed, device.peak_bytes),
                                      FormatBytes(row.peak_bytes),
                                      FormatBytes(row.kept_bytes),
                                      FormatBytes(row.again_bytes),
                                      FormatCount(row.calls)};
    if (any_already) cells.push_back(row.already == 0 ? "" : FormatCount(row.already));
    table.AddRow(std::move(cells));
  }
  std::string text = table.Render(terminal, 2);
  if (shown < device.rows.size())
    text += fmt::format("  and {} more that free less, or nothing; --top 0 shows all\n",
                        FormatCount(device.rows.size() - shown));
  return text;
}

std::string DeviceText(const Capture& capture, const CheckpointDevice& device, std::size_t top,
                       const Terminal& terminal) {
  std::string text = "\n" +
                     Painted(terminal, Color::kBold,
                             Wrapped(fmt::format("If these modules were checkpointed: the peak of {}, {} at {}",
                                                 DeviceLabel(capture, device.name, device.process),
                                                 FormatBytes(device.peak_bytes), FormatMoment(device.peak_ns)),
                                     terminal.width, 2)) +
                     "\n";
  if (device.rows.empty()) return text + "  No call of a module was recorded.\n";
  text += RowTable(device, top, terminal);
  if (!device.rows.front().cut_off) return text;
  return text + "  " +
         Wrapped(
             "The peak was reached in a forward that ran out of memory: the peaks would be at least these, because "
             "the rest of the forward is not in them.",
             terminal.width, 2) +
         "\n";
}

std::string Notes(const Checkpointing& checkpointing, std::size_t top, const Terminal& terminal) {
  const auto line = [&](std::string_view text) { return "  " + Wrapped(text, terminal.width, 2) + "\n"; };
  std::string text = line(
      "An estimate, for each row alone: all calls of these modules under torch.utils.checkpoint with "
      "use_reentrant=False, which costs one more forward of them.");
  text += line(
      "kept: live at the peak, computed by these modules for backward. again: the most that one call recomputes at a "
      "time.");
  const auto shows_negative = [&](const CheckpointDevice& device) {
    const std::size_t shown = Shown(device, top);
    return shown > 0 && device.rows[shown - 1].freed_bytes < 0;  // rows that would free nothing come last
  };
  if (std::ranges::any_of(checkpointing.devices, shows_negative))
    text += line("Negative: checkpointing would keep inputs that are freed now.");
  const auto has_already = [](const CheckpointDevice& device) {
    return std::ranges::any_of(device.rows, [](const CheckpointRow& row) { return row.already > 0; });
  };
  if (std::ranges::any_of(checkpointing.devices, has_already))
    text += line("already: calls that checkpointing recomputed in this recording.");
  return text;
}

Json CheckpointRowJson(const CheckpointRow& row) {
  return {{"name", row.name},
          {"root", row.root},
          {"path", row.path},
          {"class", row.class_name},
          {"modules", row.modules},
          {"calls", row.calls},
          {"already", row.already},
          {"freed_bytes", row.freed_bytes},
          {"new_peak_bytes", row.peak_bytes},
          {"kept_bytes", row.kept_bytes},
          {"again_bytes", row.again_bytes},
          {"cut_off", row.cut_off}};
}

}  // namespace

std::string RenderCheckpointing(const Capture& capture, const Checkpointing& checkpointing, std::size_t top,
                                const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  const bool caching = std::ranges::any_of(checkpointing.devices, &CheckpointDevice::caching);
  for (const CheckpointDevice& device : checkpointing.devices) {
    if (device.caching == caching) text += DeviceText(capture, device, top, terminal);
  }
  text += checkpointing.devices.empty() ? "No allocation was recorded.\n" : Notes(checkpointing, top, terminal);
  if (!checkpointing.missing.empty()) text += "  " + Wrapped(checkpointing.missing, terminal.width, 2) + "\n";
  return text + "\n" + RenderLosses(capture, checkpointing.report, terminal);
}

Json CheckpointingJson(const Capture& capture, const Checkpointing& checkpointing, std::size_t top) {
  Json json = CaptureJson(capture, checkpointing.report, "checkpoint");
  json["missing"] = checkpointing.missing;
  json["devices"] = Json::array();
  for (const CheckpointDevice& device : checkpointing.devices) {
    Json shown = {{"device", device.name},           {"rank", RankJson(device.rank)},
                  {"process", device.process.value}, {"peak_allocated_bytes", device.peak_bytes},
                  {"peak_time_ns", device.peak_ns},  {"modules", Json::array()}};
    const std::size_t most = top == 0 ? device.rows.size() : std::min(top, device.rows.size());
    for (std::size_t i = 0; i < most; ++i) shown["modules"].push_back(CheckpointRowJson(device.rows[i]));
    json["devices"].push_back(std::move(shown));
  }
  return json;
}

std::string CheckpointLine(const Capture& capture, const DeviceRow& device, const Terminal& terminal) {
  if (!device.checkpointing) return "";
  const CheckpointRow& row = *device.checkpointing;
  const std::string text =
      fmt::format("Checkpointing {} ({}) would lower the peak by up to {}, to {}{} (an estimate{}): {}",
                  Shortened(ShownName(row.name), kNameInLine), FormatCounted(row.modules, "module", "modules"),
                  FormatBytes(static_cast<std::uint64_t>(row.freed_bytes)), row.cut_off ? "at least " : "",
                  FormatBytes(row.peak_bytes), row.cut_off ? "; the forward had not ended" : "",
                  PrintedCommand("show " + TypedWord(capture.path()) + " --by checkpoint"));
  return "  " + Wrapped(text, terminal.width, 2) + "\n";
}

}  // namespace memoir
