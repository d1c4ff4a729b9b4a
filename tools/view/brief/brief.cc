#include "tools/view/brief/brief.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/view/brief/finding.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

constexpr std::size_t kMostTextBytes = 160, kMostFindingBytes = 600, kMostCommandBytes = 1600;
// Returns the document as one line.
std::string ToLine(const Json& json) {
  return EscapedInJson(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

constexpr std::size_t kLevels = 3;
constexpr std::array<std::size_t, kLevels> kMostRows = {6, 10, 5};  // rows of one list, by its depth

// Returns true for keys that the shortened document omits: they describe the recording itself, or are long lists of
// little use.
bool IsAside(std::string_view key) {
  constexpr std::string_view kAside[] = {"processes", "attempts", "damage",        "a",      "b",       "marks",
                                         "over_time", "readings", "forward_stack", "stack",  "streams", "unlike",
                                         "evicted",   "gaps",     "unrecorded",    "beside", "host",    "lacking"};
  return std::ranges::find(kAside, key) != std::end(kAside);
}

std::size_t SizeOf(const std::string& text) { return Quoted(text).size(); }

// Leaves out the middle of `text` if it takes more than `most` bytes of JSON.
std::string Cut(const std::string& text, std::size_t most) {
  std::string cut = text;
  for (std::size_t kept = most; SizeOf(cut) > most; kept = kept * 3 / 4) {
    const auto is_inside = [&](std::size_t at) {
      return at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    };
    std::size_t end = std::min(kept / 2, text.size()), begin = text.size() - std::min(kept / 4, text.size());
    while (is_inside(end)) --end;
    while (is_inside(begin)) ++begin;
    cut = text.substr(0, end) + "…" + text.substr(begin);
  }
  return cut;
}

bool SaysNothing(const Json& value) {
  return value.is_null() || (value.is_number() && value == 0) ||
         (value.is_string() && value.get<std::string>().empty()) || (value.is_boolean() && !value.get<bool>());
}

void AddScalars(const std::string& before, const Json& from, Json& to) {
  for (const auto& [key, value] : from.items()) {
    if (value.is_object() && before.empty()) AddScalars(key + ".", value, to);
    if (value.is_structured() || SaysNothing(value)) continue;
    to[before + key] = value.is_string() ? Json(Cut(value.get<std::string>(), kMostTextBytes)) : value;
  }
}

using Levels = std::array<std::vector<Json>, kLevels>;

void Collect(const Json& from, std::size_t level, Levels& levels) {
  if (level == kLevels) return;
  for (const auto& [key, value] : from.items()) {
    if (IsAside(key)) continue;
    if (value.is_object()) Collect(value, level, levels);
    if (!value.is_array()) continue;
    std::size_t rows = 0;
    for (const Json& row : value) {
      if (!row.is_object() || ++rows > kMostRows[level]) continue;
      Json entry = {{"of", key}};
      AddScalars("", row, entry);
      levels[level].push_back(std::move(entry));
      Collect(row, level + 1, levels);
    }
  }
}

std::uint64_t Number(const Json& whole, const char* key) {
  return whole.contains(key) && whole[key].is_number_unsigned() ? whole[key].get<std::uint64_t>() : 0;
}

// Returns the losses of the recording, which make its sums too small. null if no loss is known.
Json Losses(const Json& whole) {
  Json losses;
  for (const char* key : {"dropped_events", "lost_records", "lost_chunks"}) {
    if (const std::uint64_t lost = Number(whole, key); lost > 0) losses[key] = lost;
  }
  if (whole.contains("damage") && !whole["damage"].empty()) losses["damage"] = whole["damage"].size();
  if (whole.contains("missing") && whole["missing"].is_string() && !whole["missing"].get<std::string>().empty())
    losses["missing"] = Cut(whole["missing"].get<std::string>(), kMostTextBytes);
  return losses;
}

// Returns the first losses in the document. `memoir check` without the name of a check writes the losses of each check
// into the object of that check.
Json AllLosses(const Json& whole) {
  Json losses = Losses(whole);
  for (const auto& [key, value] : whole.items()) {
    if (losses.is_null() && value.is_object()) losses = Losses(value);
  }
  return losses;
}

bool IsUtf8(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore) ==
         Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string BriefText(const Json& whole, const std::string& next, const std::string& without_path) {
  Json brief = {{"version", 1}, {"view", whole.value("view", "")}, {"brief", true}};
  if (whole.contains("capture") && whole["capture"].is_string())
    brief["capture"] = Cut(whole["capture"].get<std::string>(), 2 * kMostTextBytes);
  brief["finding"] = Cut(FindingOf(whole), kMostFindingBytes);
  if (whole.contains("found")) brief["found"] = whole["found"];
  if (const Json losses = AllLosses(whole); !losses.is_null()) brief["incomplete"] = losses;
  brief["evidence"] = Json::array();
  brief["left_out"] = 0;
  const bool fits = SizeOf(next) <= kMostCommandBytes && IsUtf8(next);
  brief["next"] = fits ? next : Cut(without_path, kMostCommandBytes);
  if (!fits) brief["note"] = "in next, words in capitals stand for what was given, which is too long for this answer";
  Levels levels;
  Collect(whole, 0, levels);
  std::size_t left_out = 0;
  std::size_t size = ToLine(brief).size() + 8;  // 8: the digits of left_out
  for (const std::vector<Json>& rows : levels) {
    for (const Json& row : rows) {
      const std::size_t more = ToLine(row).size();  // counts the newline of the row, which stands for the comma
      if (size + more <= kMostBriefBytes) {
        brief["evidence"].push_back(row);
        size += more;
      } else {
        ++left_out;
      }
    }
  }
  brief["left_out"] = left_out;
  return ToLine(brief);
}

}  // namespace memoir
