#include "tools/view/lives/leak_view.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "fmt/format.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/step_count_text.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;

std::uint64_t BytesOf(const LeakGroup& group) {
  std::uint64_t bytes = 0;
  for (const Leak* const leak : group.leaks) bytes += leak->bytes;
  return bytes;
}

std::string LabelOf(const Leak::Share& share) { return LabelOfCategory(CategoryOf(share.rule)); }

std::string PlaceText(const Leak& leak) {
  if (leak.kind == Leak::Kind::kFragmentation) return "reserved by torch's allocator";
  if (leak.line.known()) return ShownPlace(leak.line, kNameInLine);
  const std::string name = leak.operator_name.empty() ? "outside of any operator" : Escaped(leak.operator_name);
  return name + (leak.module.empty() ? "" : " in " + ShownName(leak.module));
}

// Describes the holder of the leaked memory, as far as autograd, modules and optimizers show it.
std::string_view HolderText(const Leak& leak) {
  if (leak.kind == Leak::Kind::kFragmentation)
    return "live blocks between free pieces; what is allocated does not grow with it";
  if (leak.kind == Leak::Kind::kReplaced)
    return "references of the program to tensors that torch.cat replaces by longer ones";
  if (leak.device == "pinned") return "a reference of the program to pinned memory, or a copy that has not ended";
  switch (HolderOf(leak)) {
    case HolderKind::kHolder:
      return "references to parameters or buffers in modules, optimizers or the program";
    case HolderKind::kGradient:
      return ".grad of parameters";
    case HolderKind::kOptimizer:
      return "the optimizer, as state";
    case HolderKind::kGraph:
    case HolderKind::kUnusedGraph:
      return "autograd's graph, while the program refers to a result of it";
    case HolderKind::kRetainedGraph:
      return "autograd's graph, which backward kept (retain_graph=True), while the program refers to a result of it";
    case HolderKind::kLibrary:
      return "the library whose workspace it is";
    default:
      return "a reference of the program, such as a list, a dictionary, a closure or an exception";
  }
}

std::span<const LeakHolder> HoldersOf(const Leak& leak, const Leaks& leaks, const LeakHolders& holders) {
  const auto at = static_cast<std::size_t>(&leak - leaks.leaks.data());
  return at < holders.all.size() ? std::span(holders.all[at]) : std::span<const LeakHolder>();
}

// Names the holders of these leaks: for each variable or other root, the path to its largest part.
std::string FoundHolders(const LeakGroup& group, const Leaks& leaks, const LeakHolders& holders) {
  constexpr std::size_t kMostShown = 2;
  struct LargestHolding {
    std::string_view root;
    std::uint64_t bytes = 0;
    const LeakHolder* largest = nullptr;
  };
  std::vector<LargestHolding> found;
  for (const Leak* const leak : group.leaks) {
    for (const LeakHolder& holder : HoldersOf(*leak, leaks, holders)) {
      const std::string_view root = RootOf(holder.name);
      auto of_root = std::ranges::find(found, root, &LargestHolding::root);
      if (of_root == found.end()) of_root = found.insert(found.end(), {root});
      of_root->bytes += holder.bytes;
      if (of_root->largest == nullptr || holder.bytes > of_root->largest->bytes) of_root->largest = &holder;
    }
  }
  std::ranges::stable_sort(found, std::greater(), &LargestHolding::bytes);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostShown, found.size()); ++i)
    text += (i == 0 ? "" : "; ") + Escaped(found[i].largest->name);
  if (found.size() > kMostShown) text += "; " + FormatCounted(found.size() - kMostShown, "other", "others");
  return text;
}

// Returns "at train.py:30" or "by aten::add".
std::string MadeText(const LeakCause::Allocation& made) {
  return made.line.known() ? "at " + ShownPlace(made.line, kNameInLine) : "by " + Escaped(made.operator_name);
}

std::string CauseText(const LeakCause& cause) {
  const std::string kept = MadeText(cause.last_kept), result = MadeText(cause.last_result);
  return "autograd's graph, while the program refers to a result of it: the last of these tensors in a step is made " +
         kept + (kept == result ? "" : ", the last that is computed from them " + result);
}

std::string KeptByText(const LeakGroup& group) {
  if (group.cause != nullptr && group.cause->variable.empty()) return CauseText(*group.cause);
  const std::string first(HolderText(*group.leaks.front()));
  const bool is_of_all = std::ranges::all_of(group.leaks, [&](const Leak* leak) { return HolderText(*leak) == first; });
  return (is_of_all ? "" : "at the first: ") + first;
}

// Returns "train.py:12 +2.0 MiB, model.py:7 +1.0 MiB".
std::string PlacesText(const LeakGroup& group) {
  std::string text;
  for (const Leak* const leak : group.leaks)
    text += (text.empty() ? "" : ", ") + PlaceText(*leak) + " +" + FormatBytes(leak->bytes_per_step());
  return text;
}

// Returns "activation 75.0% (most by aten::relu in 1), input 25.0% on cpu, 40 blocks".
std::string LeakedMemoryText(const Capture& capture, const Leak& leak) {
  constexpr std::size_t kMostCategories = 3;
  constexpr std::uint64_t kSmallestShare = 100;  // smaller shares are not named
  const std::string device = " on " + DeviceLabel(capture, leak.device, leak.process);
  if (leak.kind == Leak::Kind::kFragmentation) return "reserved memory" + device;
  std::string maker = leak.operator_name.empty() ? "" : "by " + Escaped(leak.operator_name);
  if (!leak.module.empty()) maker += (maker.empty() ? "in " : " in ") + ShownName(leak.module);
  if (leak.is_mixed && !maker.empty()) maker = "most " + maker;
  std::string blocks = ", " + FormatCounted(leak.blocks, "block", "blocks");
  if (leak.inferred_blocks > 0)
    blocks += fmt::format(" (operator and module of {} inferred)", FormatCount(leak.inferred_blocks));
  const bool pinned = leak.device == "pinned";
  if (pinned || leak.categories.size() <= 1) {
    const std::string what = pinned || leak.categories.empty() ? "host memory" : LabelOf(leak.categories.front());
    return what + device + (maker.empty() ? "" : ", " + maker) + blocks;
  }
  std::string text;
  std::uint64_t all = 0;
  for (const Leak::Share& share : leak.categories) all += share.bytes;
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      leak.categories, [all](const Leak::Share& share) { return share.bytes >= all / kSmallestShare; }));
  const std::size_t shown = std::min(kMostCategories, count);
  for (std::size_t i = 0; i < shown; ++i) {
    const Leak::Share& share = leak.categories[i];
    text += (i == 0 ? "" : ", ") + LabelOf(share) + " " + FormatShare(share.bytes, all);
    if (i == 0 && !maker.empty()) text += " (" + maker + ")";
  }
  if (shown < count) text += " and " + FormatCounted(count - shown, "other", "others");
  return text + device + blocks;
}

std::string FactLine(const Terminal& terminal, std::string_view name, std::string_view text) {
  constexpr std::size_t kIndent = 11;
  return "  " + Painted(terminal, Color::kBold, PaddedRight(name, kIndent - 2)) +
         Wrapped(text, terminal.width, kIndent) + "\n";
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json MadeJson(const LeakCause::Allocation& made) {
  Json json = {{"operator", TextOrNull(made.operator_name)}};
  AddLine(json, made.line);
  return json;
}

}  // namespace

std::vector<LeakGroup> GroupsOf(const Leaks& leaks) {
  std::vector<LeakGroup> groups;
  std::vector<bool> grouped(leaks.leaks.size());
  for (const LeakCause& cause : leaks.causes) {
    LeakGroup& group = groups.emplace_back(LeakGroup{{}, &cause});
    for (const std::size_t i : cause.leaks) {
      group.leaks.push_back(&leaks.leaks[i]);
      grouped[i] = true;
    }
  }
  for (std::size_t i = 0; i < leaks.leaks.size(); ++i) {
    if (!grouped[i]) groups.push_back({{&leaks.leaks[i]}});
  }
  std::ranges::stable_sort(groups, std::greater(), BytesOf);
  return groups;
}

std::string LeakText(const Capture& capture, const LeakGroup& group) {
  const Leak& leak = *group.leaks.front();
  const bool alone = DescribeJob(capture).processes <= 1;
  const std::size_t others = group.leaks.size() - 1;
  return fmt::format(
      "{}{}{}: +{} each step, {} after {}", PlaceText(leak),
      others == 0 ? "" : " and " + FormatCounted(others, "other place", "other places") + ", likely for one cause",
      alone ? "" : " on " + DeviceLabel(capture, leak.device, leak.process), FormatBytes(BytesOf(group) / leak.steps),
      FormatBytes(BytesOf(group)), FormatCounted(leak.steps, "step", "steps"));
}

namespace {

// Returns the command that shows the memory that was live when the leak was found, without "memoir" and the capture.
std::string LeakCommand(const Capture& capture, const Leak& leak) {
  const std::string_view by = leak.kind == Leak::Kind::kFragmentation ? "segment"
                              : leak.line.known()                     ? "line"
                                                                      : "operator";
  const ProcessSummary& process = capture.processes()[leak.process.value];
  const std::string rank =
      process.is_rank && DescribeJob(capture).processes > 1 ? fmt::format("--rank {} ", process.info.rank()) : "";
  return fmt::format("show --by {} {}--at {}", by, rank, FormatAt(leak.ns, leak.until_ns));
}

}  // namespace

bool AreLeaksKnown(const Leaks& leaks) {
  return !leaks.leaks.empty() || (leaks.source != StepSource::kNone && leaks.steps > kFewestSteps);
}

std::string LeakHeadline(const Leaks& leaks) {
  const std::string steps = StepCountText(leaks.steps, leaks.source);
  if (const std::size_t count = leaks.leaks.size(); count > 0) {
    const std::string causes =
        leaks.causes.empty() ? "" : ", likely for " + FormatCounted(GroupsOf(leaks).size(), "cause", "causes");
    return fmt::format("{} more in every step{} ({} looked at)", FormatCounted(count, "place keeps", "places keep"),
                       causes, steps);
  }
  if (leaks.source == StepSource::kNone)
    return "not known: the recording has no steps: no call of memoir.step(), of an optimizer or of a module";
  if (leaks.steps <= kFewestSteps) return "not known: too few to tell what grows: " + steps + " looked at";
  return "no leak of 1 % of the peak, or of 256 KiB a step, in " + steps;
}

std::string RenderLeaks(const Capture& capture, const Leaks& leaks, const LeakHolders& holders, std::size_t top,
                        const std::string& path, const Terminal& terminal) {
  const std::vector<LeakGroup> groups = GroupsOf(leaks);
  const std::size_t count = groups.size();
  const std::string headline = Wrapped(LeakHeadline(leaks), terminal.width, 0);
  if (count == 0) return headline + "\n";
  std::string text = Painted(terminal, Color::kBold, headline) + "\n";
  const std::size_t shown = top == 0 ? count : std::min(top, count);
  for (std::size_t i = 0; i < shown; ++i) {
    const LeakGroup& group = groups[i];
    const Leak& leak = *group.leaks.front();
    text += "\n" + Wrapped(LeakText(capture, group), terminal.width, 2) + "\n";
    if (group.cause != nullptr) text += FactLine(terminal, "places", PlacesText(group));
    text +=
        FactLine(terminal, "what", (group.cause != nullptr ? "at the first: " : "") + LeakedMemoryText(capture, leak));
    text += FactLine(terminal, "since", fmt::format("step {}", leak.since_step));
    text += FactLine(terminal, "kept by", KeptByText(group));
    if (const std::string found = FoundHolders(group, leaks, holders); !found.empty())
      text += FactLine(terminal, "held by", found);
    text += "  more: " + PrintedCommand(LeakCommand(capture, leak) + " " + path) + "\n";
  }
  if (!holders.looked) text += "\nWhich variables hold them: record with memoir run --holders\n";
  if (shown < count)
    text += fmt::format("\n{} more: {}\n", count - shown, PrintedCommand("check leaks --top 0 " + path));
  return text;
}

Json LeaksJson(const Capture& capture, const Leaks& leaks, const LeakHolders& holders, const std::string& path) {
  Json json = CaptureJson(capture, leaks.report, "check_leaks");
  json["steps"] = leaks.steps;
  json["step_source"] = TextOrNull(std::string(ToString(leaks.source)));
  std::map<const Leak*, std::size_t> cause_of;
  json["causes"] = Json::array();
  for (const LeakCause& cause : leaks.causes) {
    for (const std::size_t i : cause.leaks) cause_of[&leaks.leaks[i]] = json["causes"].size();
    const bool is_graph = cause.variable.empty();
    json["causes"].push_back({{"leaks", cause.leaks},
                              {"variable", TextOrNull(cause.variable)},
                              {"last_kept", is_graph ? MadeJson(cause.last_kept) : Json(nullptr)},
                              {"last_result", is_graph ? MadeJson(cause.last_result) : Json(nullptr)}});
  }
  json["leaks"] = Json::array();
  for (const Leak& leak : leaks.leaks) {
    const bool memory = leak.kind == Leak::Kind::kFragmentation || leak.device == "pinned";
    Json entry = {{"kind", ToString(leak.kind)},
                  {"device", leak.device},
                  {"pid", capture.processes()[leak.process.value].info.pid()},
                  {"bytes_per_step", leak.bytes_per_step()},
                  {"bytes", leak.bytes},
                  {"blocks", leak.blocks},
                  {"inferred_blocks", leak.inferred_blocks},
                  {"steps", leak.steps},
                  {"since_step", leak.since_step},
                  {"ns", leak.ns}};
    AddLine(entry, leak.line);
    const auto cause = cause_of.find(&leak);
    entry["cause"] = cause == cause_of.end() ? Json(nullptr) : Json(cause->second);
    entry["operator"] = TextOrNull(leak.operator_name);
    entry["module"] = TextOrNull(leak.module);
    entry["categories"] = Json::array();
    for (const Leak::Share& share : leak.categories) {
      const Rule& rule = Rules()[share.rule];
      if (!memory)
        entry["categories"].push_back({{"category", NameOf(rule.kept)},
                                       {"detail", TextOrNull(std::string(rule.detail))},
                                       {"bytes", share.bytes}});
    }
    const bool known = !entry["categories"].empty();
    for (const char* key : {"category", "detail"})
      entry[key] = known ? entry["categories"].front()[key] : Json(nullptr);
    entry["kept_by"] = HolderText(leak);
    const std::span<const LeakHolder> found = HoldersOf(leak, leaks, holders);
    entry["holder"] = found.empty() ? Json(HolderText(leak)) : Json(found.front().name);
    entry["holders"] = Json::array();
    for (const LeakHolder& holder : found)
      entry["holders"].push_back({{"name", holder.name}, {"bytes", holder.bytes}, {"blocks", holder.blocks}});
    entry["command"] = PrintedCommand(LeakCommand(capture, leak) + " " + path);
    json["leaks"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace memoir
