#include "tools/analyze/compare/matched_parts.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/compare/match/line_match.h"
#include "tools/analyze/grouping/grouping.h"

namespace memoir {
namespace {

// Returns all modules of a capture: modules that were called, that have parameters, or that allocated live blocks.
std::vector<Module> ModulesOf(const CaptureHoldings& held) {
  std::vector<Module> modules = held.modules;
  for (const SeenParameter& parameter : held.facts.parameters) modules.push_back(parameter.module);
  for (const HeldDevice& device : held.devices) {
    for (const HeldPart& part : device.parts) {
      if (part.module_label.empty()) modules.push_back(part.module);
    }
  }
  return modules;
}

ModuleNames::Shapes ShapesOf(const CaptureHoldings& held) {
  ModuleNames::Shapes shapes;
  for (const SeenParameter& parameter : held.facts.parameters)
    absl::StrAppend(&shapes[parameter.module.full_path()], parameter.name, " ", ToString(parameter.shape), "\n");
  return shapes;
}

std::vector<SeenLine> Renamed(std::vector<SeenLine> lines, Renames& renames) {
  for (SeenLine& line : lines) {
    line.line.file = renames.RenameFile(line.line.file);
    line.line.function = renames.RenameName(line.line.function);
    std::set<std::string> marks;
    for (const std::string& mark : line.marks) {
      const std::size_t end = mark.find('\n');
      marks.insert(OperatorKeyOf(renames.RenameName(mark.substr(0, end)), renames.RenamePath(mark.substr(end + 1))));
    }
    line.marks = std::move(marks);
  }
  return lines;
}

void AddTo(Amount& sum, const Amount& amount) {
  sum.bytes += amount.bytes;
  sum.blocks += amount.blocks;
  sum.requested += amount.requested;
  sum.before_step += amount.before_step;
}

struct RowName {
  std::string key, name, name_a;
};

RowName RowNameOf(const MatchedPart& part, GroupBy by) {
  const std::string module = part.module.place();
  const std::string module_key = absl::StrCat(part.module.root, "\n", part.module.path);
  const auto with_category = [&](const std::string& place) { return absl::StrCat(place, ": ", part.category); };
  switch (by) {
    case GroupBy::kOperator:
      return {part.operator_name, part.operator_name, ""};
    case GroupBy::kModule:
      return {module_key, module, ""};
    case GroupBy::kLine:
      return {part.line_key, part.line, part.line_a};
    case GroupBy::kCategory:
      return {part.category, part.category, ""};
    case GroupBy::kCategoryModule:
      if (!part.is_of_module || part.is_of_library) return {part.category, part.category, ""};
      return {absl::StrCat(module_key, "\n", part.category), with_category(module), ""};
    case GroupBy::kCategoryLine:
      if (!part.source.known() && part.line != kCompiledLabel) return {part.category, part.category, ""};
      return {absl::StrCat(part.line_key, "\n", part.category), with_category(part.line),
              part.line_a.empty() ? "" : with_category(part.line_a)};
    default:
      return {part.other, part.other, part.other_a};
  }
}

}  // namespace

std::string MatchedNames::LineKeyOf(const std::string& line_of_a) const {
  const auto same = lines_of_a_.find(line_of_a);
  return same == lines_of_a_.end() ? line_of_a + "\n" : ToString(same->second);
}

bool MatchedNames::AreSameModel(const std::string& of_a, const std::string& of_b) const {
  return modules_.CommonNameInA({of_a, "", ""}) == modules_.CommonNameInB({of_b, "", ""});
}

MatchedNames::MatchedNames(const CaptureHoldings& a, const CaptureHoldings& b, std::vector<Rename> renames, GroupBy by)
    : by_(by), renames_(std::move(renames)), modules_(ModulesOf(a), ModulesOf(b), renames_, ShapesOf(a), ShapesOf(b)) {
  const std::vector<SeenLine> of_a = Renamed(a.lines, renames_);
  for (const auto& [in_a, in_b] : MatchLines(of_a, b.lines))
    lines_of_a_[ToString(a.lines[in_a].line)] = b.lines[in_b].line;
}

std::string MatchedNames::OtherName(const std::string& name) const {
  return by_ == GroupBy::kParameter ? PathWithoutWrappers(name) : name;
}

MatchedPart MatchedNames::PartOfB(const HeldPart& part) const {
  MatchedPart common;
  common.operator_name = part.operator_name;
  common.is_of_module = part.module_label.empty();
  common.module = common.is_of_module ? modules_.CommonNameInB(part.module) : CommonModule{"", part.module_label};
  common.source = part.line;
  common.line = part.line.known() ? ToString(part.line) : part.line_label;
  common.line_key = common.line;
  common.category = part.category;
  common.is_of_library = part.is_of_library;
  common.other = OtherName(part.other);
  common.b = {part.bytes, part.blocks, part.requested, part.before_step};
  return common;
}

MatchedPart MatchedNames::PartOfA(const HeldPart& part) {
  MatchedPart common = PartOfB(part);
  common.a = std::exchange(common.b, {});
  common.operator_name = renames_.RenameName(part.operator_name);
  if (common.is_of_module) common.module = modules_.CommonNameInA(part.module);
  if (by_ == GroupBy::kParameter) common.other = renames_.RenamePath(common.other);
  if (common.other != part.other) common.other_a = part.other;
  if (!part.line.known()) return common;
  const auto same = lines_of_a_.find(common.line);
  if (same == lines_of_a_.end()) {
    common.line_key += '\n';
    common.is_line_of_a = true;
    return common;
  }
  common.source = same->second;
  const std::string in_b = ToString(same->second);
  if (in_b != common.line) common.line_a = common.line;
  common.line = common.line_key = in_b;
  return common;
}

std::vector<MatchedPart> MatchedNames::MatchParts(const HeldDevice* a, const HeldDevice* b) {
  using Key = std::tuple<std::string, CommonModule, std::string, std::string, std::string>;
  std::map<Key, MatchedPart> parts;
  const auto add = [&](MatchedPart part) {
    const Key key{part.operator_name, part.module, part.line_key, part.category, part.other};
    const auto [found, is_new] = parts.try_emplace(key, part);
    if (is_new) return;
    AddTo(found->second.a, part.a);
    AddTo(found->second.b, part.b);
    if (found->second.line_a.empty()) found->second.line_a = part.line_a;
    if (found->second.other_a.empty()) found->second.other_a = part.other_a;
  };
  if (a != nullptr) std::ranges::for_each(a->parts, [&](const HeldPart& part) { add(PartOfA(part)); });
  if (b != nullptr) std::ranges::for_each(b->parts, [&](const HeldPart& part) { add(PartOfB(part)); });
  std::vector<MatchedPart> result;
  for (auto& [key, part] : parts) result.push_back(std::move(part));
  return result;
}

std::vector<ComparedRow> RowsOf(const std::vector<MatchedPart>& parts, GroupBy by) {
  std::map<std::string, ComparedRow> by_key;
  for (const MatchedPart& part : parts) {
    const RowName name = RowNameOf(part, by);
    ComparedRow& row = by_key[name.key];
    row.name = name.name;
    if (row.name_a.empty()) row.name_a = name.name_a;
    if (by == GroupBy::kModule && part.is_of_module) row.module = part.module;
    if (by == GroupBy::kCategoryModule && part.is_of_module && !part.is_of_library) row.module = part.module;
    if (by == GroupBy::kLine || by == GroupBy::kCategoryLine) {
      row.source = part.source;
      row.is_line_of_a = part.is_line_of_a;
    }
    AddTo(row.a, part.a);
    AddTo(row.b, part.b);
  }
  std::vector<ComparedRow> rows;
  for (auto& [key, row] : by_key) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, [](const ComparedRow& x, const ComparedRow& y) {
    const auto size = [](const ComparedRow& row) { return std::pair(std::abs(row.difference()), row.b.bytes); };
    return size(x) > size(y);
  });
  return rows;
}

}  // namespace memoir
