#include "tools/analyze/compare/main_cause.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {
namespace {

using Naming = std::function<std::string(const MatchedPart&)>;
using Measure = std::int64_t (MatchedPart::*)() const;

// Returns the differences, multiplied by `sign`, and their names; largest first.
std::vector<std::pair<std::int64_t, std::string>> Changed(const std::vector<const MatchedPart*>& parts,
                                                          const Naming& name_of, std::int64_t sign,
                                                          Measure measure = &MatchedPart::difference) {
  std::map<std::string, std::int64_t> sums;
  for (const MatchedPart* part : parts) sums[name_of(*part)] += sign * (part->*measure)();
  std::vector<std::pair<std::int64_t, std::string>> changed;
  for (const auto& [name, sum] : sums) {
    if (sum != 0) changed.emplace_back(sum, name);
  }
  std::ranges::stable_sort(changed, [](const auto& x, const auto& y) { return x.first > y.first; });
  return changed;
}

// Returns the differences of requested bytes, sorted in the direction of `total`, the difference of all parts.
// Requested bytes show better what the program does, because the allocator may round a block up to the size of a free
// piece of memory. Leaves out names whose blocks have equal bytes in A and B. If no name is left, returns the
// differences of the blocks' bytes.
std::vector<std::pair<std::int64_t, std::string>> ChangedByProgram(const std::vector<const MatchedPart*>& parts,
                                                                   const Naming& name_of, std::int64_t total) {
  auto changed = Changed(parts, name_of, 1, &MatchedPart::requested_difference);
  const auto of_blocks = Changed(parts, name_of, 1);
  std::set<std::string> names;
  for (const auto& [difference, name] : of_blocks) names.insert(name);
  std::erase_if(changed, [&](const auto& one) { return !names.contains(one.second); });
  if (changed.empty()) changed = of_blocks;
  if (changed.empty() || total >= 0) return changed;
  // A small total may be the sum of larger changes in both directions. In this case the growth comes first.
  constexpr std::int64_t kSmall = 10;
  if (kSmall * std::abs(total) < changed.front().first) return changed;
  for (auto& [difference, name] : changed) difference = -difference;
  std::ranges::stable_sort(changed, [](const auto& x, const auto& y) { return x.first > y.first; });
  return changed;
}

// A name whose parts make up more than half of a difference.
struct DominantName {
  std::string name;      // empty: there is no such name
  bool has_all = false;  // the parts make up at least 9/10 of the difference
};
DominantName DominantOf(const std::vector<const MatchedPart*>& parts, const Naming& name_of, std::int64_t bytes) {
  const std::int64_t sign = bytes < 0 ? -1 : 1;
  const auto changed = Changed(parts, name_of, sign);
  if (changed.empty() || 2 * changed.front().first <= std::abs(bytes)) return {};
  return {changed.front().second, 10 * changed.front().first >= 9 * std::abs(bytes)};
}

// Returns true if the parts belong to several models. If so, a path alone does not identify a module, and names contain
// the model: "Generator.image".
bool HaveSeveralModels(const std::vector<MatchedPart>& parts) {
  std::set<std::string> roots;
  for (const MatchedPart& part : parts) {
    if (part.is_of_module && !part.module.path.empty()) roots.insert(part.module.root);
  }
  return roots.size() > 1;
}

std::string WithModel(const MatchedPart& part) {
  if (!part.is_of_module) return "";
  return part.module.path.empty() ? part.module.root : part.module.root + "." + part.module.path;
}
// Adds the model to a path that begins with a number: "Sequential.1".
std::string ModuleName(const MatchedPart& part) {
  const std::string& path = part.module.path;
  const bool is_numbered = !path.empty() && path.front() >= '0' && path.front() <= '9';
  return is_numbered || !part.is_of_module ? WithModel(part) : part.module.place();
}

// Returns the first `depth` names of a path: "layers.*" for "layers.*.fc" and 2.
std::string BeginningOf(const std::string& path, std::size_t depth) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < depth && end != std::string::npos; ++i) end = path.find('.', end + (i > 0 ? 1 : 0));
  return end == std::string::npos ? path : path.substr(0, end);
}

// Returns the longest beginning of module paths whose parts make up more than half of the difference:
// "layers.*.attention".
DominantName MostModules(const std::vector<const MatchedPart*>& parts, std::int64_t bytes, const Naming& name_of) {
  if (DominantName one = DominantOf(parts, name_of, bytes); !one.name.empty()) return one;
  const auto pattern = [&](const MatchedPart& part) { return WithLayersMerged(name_of(part)); };
  if (DominantName alike = DominantOf(parts, pattern, bytes); !alike.name.empty()) return alike;
  // Tries beginnings from the longest to the shortest. Each step removes the last name from the longest paths.
  constexpr std::size_t kDeepest = 64;
  std::map<const MatchedPart*, std::string> paths;
  std::size_t depth = 0;
  for (const MatchedPart* part : parts) {
    std::string& path = paths[part] = pattern(*part);
    depth = std::max<std::size_t>(depth, static_cast<std::size_t>(std::ranges::count(path, '.')));
  }
  for (depth = std::min(depth, kDeepest); depth > 0; --depth) {
    for (auto& [part, path] : paths) path = BeginningOf(path, depth);
    const auto path_of = [&](const MatchedPart& part) { return paths[&part]; };
    if (DominantName around = DominantOf(parts, path_of, bytes); !around.name.empty()) return around;
  }
  return {};
}

}  // namespace

CommonFactor CommonFactorOf(const std::vector<ComparedRow>& rows) {
  constexpr double kAlike = 0.02;
  constexpr double kSmallestChange = 0.05;  // smaller changes would be printed as 1.0
  constexpr std::size_t kFewest = 3;
  const auto factor_of = [](const ComparedRow& row) {
    return row.a.bytes == 0 ? 0 : static_cast<double>(row.b.bytes) / static_cast<double>(row.a.bytes);
  };
  const auto largest = std::ranges::find_if(
      rows, [](const ComparedRow& row) { return row.difference() != 0 && row.a.bytes > 0 && row.b.bytes > 0; });
  if (largest == rows.end()) return {};
  CommonFactor common = {.factor = factor_of(*largest)};
  if (std::abs(common.factor - 1) < kSmallestChange) return {};
  std::int64_t total = 0;
  for (const ComparedRow& row : rows) {
    total += row.difference();
    const bool alike = row.difference() != 0 && std::abs(factor_of(row) / common.factor - 1) < kAlike;
    common.rows += alike;
    common.bytes += alike ? row.difference() : 0;
  }
  const bool is_most = (total > 0) == (common.bytes > 0) && 3 * std::abs(common.bytes) > 2 * std::abs(total);
  return is_most && common.rows >= kFewest ? common : CommonFactor{};
}

MainCause MainCauseOf(const std::vector<MatchedPart>& parts) {
  std::vector<const MatchedPart*> all;
  std::int64_t total = 0;
  bool has_lines = false, has_modules = false;
  for (const MatchedPart& part : parts) {
    all.push_back(&part);
    total += part.difference();
    has_lines = has_lines || part.source.known();
    has_modules = has_modules || part.is_of_module;
  }
  const auto line_key = [](const MatchedPart& part) { return part.line_key; };
  const auto module = [](const MatchedPart& part) { return part.module.root + "\n" + part.module.path; };
  const auto maker = [](const MatchedPart& part) {
    return part.operator_name.empty() ? std::string("(unnamed)") : part.operator_name;
  };
  const Naming name_of = has_lines ? Naming(line_key) : has_modules ? Naming(module) : Naming(maker);
  const auto changed = ChangedByProgram(all, name_of, total);
  MainCause cause;
  if (changed.empty()) return cause;
  // `changed` is sorted in the direction of the total. If all changes have the other direction, takes the largest
  // change.
  const bool against = changed.front().first < 0;
  const auto& most = against ? changed.back() : changed.front();
  std::erase_if(all, [&](const MatchedPart* part) { return name_of(*part) != most.second; });
  std::uint64_t bytes_a = 0, bytes_b = 0;
  for (const MatchedPart* part : all) {
    bytes_a += part->a.bytes;
    bytes_b += part->b.bytes;
    cause.bytes += part->difference();
    cause.more_blocks += static_cast<std::int64_t>(part->b.blocks) - static_cast<std::int64_t>(part->a.blocks);
  }
  cause.others = changed.size() - 1;
  if (has_lines) cause.line = all.front()->line;
  if (has_lines) cause.source = all.front()->source;
  for (const MatchedPart* part : all) {
    if (part->a.bytes > 0 && has_lines) cause.line_a = part->line_a.empty() ? part->line : part->line_a;
  }
  cause.state = bytes_a == 0   ? RowState::kNew
                : bytes_b == 0 ? RowState::kGone
                               : (cause.bytes > 0 ? RowState::kGrown : RowState::kShrunk);
  cause.operator_name = DominantOf(all, maker, cause.bytes).name;
  const DominantName modules = MostModules(all, cause.bytes, HaveSeveralModels(parts) ? WithModel : ModuleName);
  cause.module = modules.name;
  cause.is_all_in_module = modules.has_all;
  const auto category_of = [](const MatchedPart& part) { return part.category; };
  const DominantName category = DominantOf(all, category_of, cause.bytes);
  cause.category = category.name;
  cause.is_all_of_category = category.has_all;
  for (const MatchedPart& part : parts) {
    if (part.category == cause.category) cause.bytes_of_category += part.difference();
  }
  return cause;
}

MainCause ReservedCauseOf(const std::vector<MatchedPart>& parts) {
  std::int64_t total = 0;
  std::vector<const MatchedPart*> all;
  for (const MatchedPart& part : parts) {
    all.push_back(&part);
    total += part.difference();
  }
  const std::string place = DominantOf(all, [](const MatchedPart& part) { return part.category; }, total).name;
  if (place.empty()) return MainCauseOf(parts);
  std::vector<MatchedPart> in_place = parts;
  std::erase_if(in_place, [&](const MatchedPart& part) { return part.category != place; });
  return MainCauseOf(in_place);
}

}  // namespace memoir
