#include "tools/view/out_of_memory_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmt/format.h"
#include "tools/view/capture_text.h"
#include "tools/view/terminal_text.h"
#include "tools/view/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;
constexpr std::size_t kIndent = 17;  // as the facts of a summary

std::string Line(const Terminal& terminal, std::string_view name, Color color, const std::string& text) {
  return Painted(terminal, color, PaddedRight(name, kIndent)) + Wrapped(text, terminal.width, kIndent) + "\n";
}

// "aten::mm in layers.3.mlp.fc1 (Linear), backward, step 7"
std::string Place(const OutOfMemory& error) {
  std::string place = error.operator_name.empty() ? "code outside of any operator"
                                                  : Shortened(Escaped(error.operator_name), kNameInLine);
  if (!error.module.empty()) place += " in " + Shortened(Escaped(error.module), kNameInLine);
  if (!error.module_class.empty() && error.module_class != error.module)
    place += " (" + Shortened(Escaped(error.module_class), kNameInLine) + ")";
  if (error.phase != Phase::kOther) place += ", " + std::string(ToString(error.phase));
  if (!error.range_name.empty()) place += ", range " + Shortened(Escaped(error.range_name), kNameInLine);
  if (error.step) place += fmt::format(", step {}", *error.step);
  return place;
}

std::string Holders(const std::vector<Holder>& holders) {
  constexpr std::size_t kShown = 4;
  std::string text;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (i >= kShown) {
      rest += holders[i].bytes;
      continue;
    }
    text +=
        (i == 0 ? "" : ", ") + Shortened(Escaped(holders[i].name), kNameInLine) + " " + FormatBytes(holders[i].bytes);
  }
  if (rest > 0) text += ", others " + FormatBytes(rest);
  return holders.empty() ? "nobody" : text;
}

Json HoldersJson(const std::vector<Holder>& holders) {
  Json json = Json::array();
  for (const Holder& holder : holders)
    json.push_back({{"name", holder.name}, {"bytes", holder.bytes}, {"blocks", holder.blocks}});
  return json;
}

}  // namespace

std::string RenderOutOfMemory(const Capture& capture, const Summary& summary, const Terminal& terminal) {
  if (summary.out_of_memory.empty()) return "";
  const OutOfMemory& error = summary.out_of_memory.back();
  std::uint64_t count = 0;
  for (const DeviceRow& device : summary.devices) count += device.num_ooms;
  std::string what = fmt::format("{} at {}: {} asked for {}", DeviceLabel(capture, error.device, error.process),
                                 FormatMoment(error.ns), Place(error), FormatBytes(error.asked_bytes));
  if (count > 1) what += fmt::format("; the last of {}", count);
  std::string text = Line(terminal, "out of memory", Color::kRed, what);
  text +=
      Line(terminal, "", Color::kBold,
           fmt::format("{} allocated, {} reserved by torch, {} left on the device", FormatBytes(error.allocated_bytes),
                       FormatBytes(error.reserved_bytes), FormatBytes(error.device_free)));
  text += Line(terminal, "held then", Color::kBold, Holders(error.by_operator));
  const bool modules =
      std::ranges::any_of(error.by_module, [](const Holder& holder) { return !holder.name.starts_with('('); });
  return modules ? text + Line(terminal, "by module", Color::kBold, Holders(error.by_module)) : text;
}

Json OutOfMemoryJson(const Summary& summary) {
  Json json = Json::array();
  for (const OutOfMemory& error : summary.out_of_memory) {
    Json one = {{"device", error.device},
                {"rank", RankJson(error.rank)},
                {"process", error.process.value},
                {"time_ns", error.ns},
                {"asked_bytes", error.asked_bytes},
                {"device_free_bytes", error.device_free},
                {"operator", error.operator_name},
                {"leaf", error.leaf_name},
                {"range", error.range_name},
                {"module", error.module},
                {"class", error.module_class},
                {"phase", ToString(error.phase)},
                {"step", nullptr},
                {"allocated_bytes", error.allocated_bytes},
                {"active_bytes", error.active_bytes},
                {"reserved_bytes", error.reserved_bytes},
                {"by_operator", HoldersJson(error.by_operator)},
                {"by_module", HoldersJson(error.by_module)}};
    if (error.step) one["step"] = *error.step;
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace memoir
