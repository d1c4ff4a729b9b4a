#include "tools/view/brief/finding.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kChecks[] = {"oom", "leaks", "host", "frag", "balance"};  // most urgent first

std::string Text(const Json& from, const char* key) {
  return from.is_object() && from.contains(key) && from[key].is_string() ? from[key].get<std::string>() : "";
}

std::uint64_t Number(const Json& from, const char* key) {
  return from.is_object() && from.contains(key) && from[key].is_number_unsigned() ? from[key].get<std::uint64_t>() : 0;
}

const Json& List(const Json& from, const std::string& key) {
  static const Json& none = *new Json(Json::array());
  return from.is_object() && from.contains(key) && from[key].is_array() ? from[key] : none;
}

std::string Bytes(const Json& from, const char* key) { return FormatBytes(Number(from, key)); }

bool AnyFound(const Json& devices) {
  for (const Json& device : devices) {
    if (device.value("finding", false)) return true;
  }
  return false;
}

// Returns true if the check's document contains a finding.
bool IsFound(const std::string& check, const Json& document) {
  if (check == "oom")
    return !List(document, "out_of_memory").empty() || Number(document, "num_ooms_without_detail") > 0;
  if (check == "leaks") return !List(document, "leaks").empty();
  if (check == "host") return document.value("found", false);
  return AnyFound(List(document, "devices"));
}

std::string OutOfMemory(const Json& error) {
  std::string text =
      absl::StrCat("out of memory on ", Text(error, "device"), ": ", Bytes(error, "asked_bytes"), " asked for");
  for (const auto& [key, before] :
       {std::pair("operator", " in "), std::pair("module", " of "), std::pair("phase", ", phase ")}) {
    if (const std::string value = Text(error, key); !value.empty()) absl::StrAppend(&text, before, value);
  }
  if (const std::string cause = Text(error, "cause"); !cause.empty()) absl::StrAppend(&text, "; cause: ", cause);
  return absl::StrCat(text, "; allocated ", Bytes(error, "allocated_bytes"), ", reserved ",
                      Bytes(error, "reserved_bytes"));
}

std::string Leak(const Json& leaks) {
  const Json& leak = leaks.front();
  const Json line = leak.contains("line") ? leak["line"] : Json();
  std::string text = absl::StrCat(FormatCounted(leaks.size(), "leak", "leaks"), "; the largest on ",
                                  Text(leak, "device"), ": ", Bytes(leak, "bytes_per_step"), " more in every step");
  if (line.is_object()) absl::StrAppend(&text, ", allocated at ", Text(line, "file"), ":", Number(line, "line"));
  return text;
}

// Returns the headline of the first process that was killed. If no process was killed, returns the headline of the
// first process with a finding.
std::string Host(const Json& document) {
  const Json* worst = nullptr;
  for (const Json& process : List(document, "host_memory")) {
    if (List(process, "findings").empty()) continue;
    const bool killed = Text(process, "headline").find("KILLED") != std::string::npos;
    if (worst == nullptr || killed) worst = &process;
    if (killed) break;
  }
  return worst == nullptr ? "nothing found about the host's memory" : "host memory: " + Text(*worst, "headline");
}

std::string OneCheck(const std::string& check, const Json& document) {
  if (check == "oom" && !List(document, "out_of_memory").empty())
    return OutOfMemory(List(document, "out_of_memory").back());
  if (check == "oom" && IsFound(check, document)) return "out-of-memory errors without details";
  if (check == "oom") return "no out-of-memory error";
  if (check == "leaks") return IsFound(check, document) ? Leak(List(document, "leaks")) : "no leak";
  if (check == "host") return Host(document);
  for (const Json& device : List(document, "devices")) {
    if (!device.value("finding", false)) continue;
    if (check == "balance")
      return absl::StrCat(Bytes(device, "unexplained_bytes"), " of ", Text(device, "device"), " unexplained");
    return absl::StrCat("fragmentation on ", Text(device, "device"));
  }
  return check == "frag" ? "no fragmentation" : "all of the GPU's memory is explained, as far as it was sampled";
}

std::string AllChecks(const Json& whole) {
  Words found;
  for (const char* check : kChecks) {
    if (whole.contains(check) && IsFound(check, whole[check])) found.push_back(OneCheck(check, whole[check]));
  }
  for (const Json& condition : List(whole, "fail_if")) {
    if (condition.value("holds", Json()) == true)
      found.push_back("--fail-if " + Text(condition, "condition") + " holds");
  }
  return found.empty() ? "nothing found" : absl::StrJoin(found, "; ");
}

// Returns the GPU with the largest value of `key`. If there is no GPU, the device with the largest value.
const Json* LargestDevice(const Json& whole, const char* key) {
  const Json* largest = nullptr;
  const auto is_gpu = [](const Json& device) { return Text(device, "device").starts_with("cuda"); };
  for (const Json& device : List(whole, "devices")) {
    if (!device.is_object()) continue;
    if (largest == nullptr ||
        std::pair(is_gpu(device), Number(device, key)) > std::pair(is_gpu(*largest), Number(*largest, key)))
      largest = &device;
  }
  return largest;
}

std::string Largest(const Json& rows, const char* key) {
  const Json* largest = nullptr;
  for (const Json& row : rows) {
    if (row.is_object() && (largest == nullptr || Number(row, key) > Number(*largest, key))) largest = &row;
  }
  if (largest == nullptr || Number(*largest, key) == 0) return "";
  std::string name = Text(*largest, "name");
  if (name.empty()) name = Text(*largest, "category");
  return absl::StrCat("; the largest: ", name, ", ", Bytes(*largest, key));
}

std::string Summary(const Json& whole) {
  const Json* const device = LargestDevice(whole, "peak_allocated_bytes");
  if (device == nullptr) return "no memory was recorded";
  std::string text =
      absl::StrCat(Text(*device, "device"), ": peak ", Bytes(*device, "peak_allocated_bytes"), " allocated");
  if (device->contains("peak_reserved_bytes"))
    absl::StrAppend(&text, ", ", Bytes(*device, "peak_reserved_bytes"), " reserved");
  if (const std::string at = Text(*device, "peak_operator"); !at.empty()) absl::StrAppend(&text, ", in ", at);
  text += Largest(List(whole, Text(whole, "by")), "bytes_at_peak");
  return List(whole, "out_of_memory").empty() ? text : OutOfMemory(List(whole, "out_of_memory").back()) + "; " + text;
}

std::string Live(const Json& whole) {
  const Json* const device = LargestDevice(whole, "live_bytes");
  if (device == nullptr) return "no memory was recorded";
  return absl::StrCat(Text(*device, "device"), ": ", Bytes(*device, "live_bytes"), " live at ", Text(whole, "at"),
                      Largest(List(*device, Text(whole, "by")), "bytes"));
}

std::string Explained(const Json& whole) {
  const Json& blocks = List(whole, "blocks");
  if (blocks.empty()) return "nothing matches";
  const Json& block = blocks.front();
  return absl::StrCat(FormatCounted(Number(whole, "matches"), "block", "blocks"),
                      "; the first: ", Bytes(block, "bytes"), " of category ", Text(block, "category"), ", made by ",
                      Text(block, "made_by"), ", rule ", Text(block, "rule"));
}

std::string Doctor(const Json& whole) {
  for (const Json& check : List(whole, "checks")) {
    if (Text(check, "level") == "wrong")
      return absl::StrCat(Number(whole, "wrong"), " wrong; the first: ", Text(check, "subject"), ": ",
                          Text(check, "finding"), "; ", Text(check, "fix"));
  }
  return "nothing wrong";
}

std::string Fitted(const Json& whole) {
  Words verdicts;
  for (const Json& card : List(whole, "cards")) verdicts.push_back(Text(card, "card") + ": " + Text(card, "verdict"));
  return absl::StrJoin(verdicts, ", ");
}

std::string Varied(const Json& whole) {
  const Json largest = whole.value("largest_that_fits", Json());
  return absl::StrCat("the largest ", Text(whole, "variable"), " that fits on ", Text(whole, "card"), ": ",
                      largest.is_null() ? "none" : largest.dump());
}

std::string PeakOf(const Json& whole) {
  const Json* const device = LargestDevice(whole, "peak_allocated_bytes");
  if (device == nullptr) return "";
  return absl::StrCat("; ", Text(*device, "device"), ": peak ", Bytes(*device, "peak_allocated_bytes"));
}

bool StartsWith(const Json& whole, const char* key, std::string_view start) {
  return Text(whole, key).starts_with(start);
}

Words AfterCheck(const std::string& check, const Json& document) {
  if (!IsFound(check, document)) return {"check"};
  if (check == "frag") return {"show", "--at", "peak", "--by", "segment"};
  if (check == "oom") return {"show", "--by", "category,module"};
  if (check == "leaks") return {"show", "--at", "end", "--by", "line"};
  if (check == "host") return {"show", "--device", "cpu", "--at", "end", "--by", "line"};
  return {"show", "--at", "peak", "--by", "category"};
}

Words AfterRanks(const Json& whole) {
  const Json& odd = List(whole, "odd");
  if (odd.empty() || List(odd.front(), "ranks").empty()) return {"show", "--by", "job"};
  const std::string rank = List(odd.front(), "ranks").front().dump();
  if (Text(odd.front(), "figure") == "growth") return {"check", "leaks", "--rank", rank};
  return {"show", "--by", "line", "--rank", rank};
}

}  // namespace

std::string FindingOf(const Json& whole) {
  const std::string view = Text(whole, "view");
  if (view == "diff" || view == "check_ranks") return Text(whole, "headline");
  if (view == "doctor") return Doctor(whole);
  if (view == "check") return AllChecks(whole);
  if (view.starts_with("check_")) return OneCheck(view.substr(6), whole);
  if (view == "summary") return Summary(whole);
  if (view == "live") return Live(whole);
  if (view == "explain") return Explained(whole);
  if (view == "fit") return Fitted(whole);
  if (view == "fit_vary") return Varied(whole);
  return view + PeakOf(whole);
}

Words NextAfter(const Json& whole) {
  const std::string view = Text(whole, "view");
  if (view == "doctor") return {"doctor"};
  if (view == "diff") {
    const bool by_module = StartsWith(whole, "by", "module") || StartsWith(whole, "by", "category");
    return {"diff", "--by", by_module ? "line" : "category,module"};
  }
  if (view == "check") {
    for (const char* check : kChecks) {
      if (whole.contains(check) && IsFound(check, whole[check])) return {"check", check};
    }
  }
  if (view == "check_ranks") return AfterRanks(whole);
  if (view.starts_with("check_")) return AfterCheck(view.substr(6), whole);
  if (view == "summary" && !List(whole, "out_of_memory").empty()) return {"check", "oom"};
  const bool by_category = StartsWith(whole, "by", "categor") || StartsWith(whole, "by", "module_categor");
  if ((view == "summary" || view == "live") && by_category) return {"show", "--by", "line"};
  if (view == "summary" && StartsWith(whole, "by", "line")) return {"check"};
  return {"show", "--by", "category,module"};
}

}  // namespace memoir
