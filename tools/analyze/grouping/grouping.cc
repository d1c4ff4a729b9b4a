#include "tools/analyze/grouping/grouping.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/grouping/block_shapes.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

std::string ThreadLabel(const ThreadInfo& thread, const Capture& capture) {
  const bool tells_process = capture.processes().size() > 1 && thread.process.valid();
  const std::string rank = tells_process ? ProcessLabel(capture, thread.process) + " " : "";
  const std::string name = thread.name.empty() ? "" : absl::StrCat(" (", thread.name, ")");
  return absl::StrCat(rank, "thread ", thread.number, name);
}

}  // namespace

Task<absl::StatusOr<Grouping>> Grouping::Make(SharedCategories& shared, GroupBy by, std::string own) {
  Grouping grouping(by, own);
  if (NeedsCategories(by)) {
    const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
    if (!categories.ok()) co_return categories.status();
    grouping.categories_ = *categories;
  }
  if (by != GroupBy::kShape) co_return grouping;
  BlockShapePass shapes;
  const absl::StatusOr<ReplayReport> report = co_await shared.replays().Next(shapes, {.tensors = true});
  if (!report.ok()) co_return report.status();
  grouping.shapes_ = shapes.Take();
  co_return grouping;
}

Grouping Grouping::FromCategories(GroupBy by, KnownCategories categories) {
  Grouping grouping(by);
  grouping.categories_ = std::move(categories);
  return grouping;
}

Grouping Grouping::FromShapes(BlockShapeTable shapes) {
  Grouping grouping(GroupBy::kShape);
  grouping.shapes_ = std::move(shapes);
  return grouping;
}

Group Grouping::GroupOfParameter(const Block& block) const {
  const ParameterNumber owner = categories_->OwnerOf(block);
  if (owner == kNoParameter) return kNoneGroup;
  ParameterPart part;
  switch (Rules()[categories_->RuleOf(block)].kept) {
    case Category::kParameter:
    case Category::kBuffer:
      part = ParameterPart::kItself;
      break;
    case Category::kGradient:
      part = ParameterPart::kGradient;
      break;
    case Category::kOptimizerState:
      part = ParameterPart::kState;
      break;
    default:
      return kNoneGroup;
  }
  return kFirstGroup + owner * static_cast<Group>(kParameterParts) + static_cast<Group>(part);
}

std::string Grouping::Key(Group group, const Capture& capture, const Dictionary& dictionary) const {
  std::string key = Label(group, capture, dictionary);
  if (IsNone(group) || IsWorkspace(group) || group == kBeforeGroup) return key;
  if (by_ == GroupBy::kParameter) return absl::StrCat(key, "\n", ParameterOf(group).root);
  if (by_ != GroupBy::kModule && by_ != GroupBy::kCategoryModule) return key;
  const ModuleId id = by_ == GroupBy::kModule ? ModuleOf(group).module : ModuleOfCategoryGroup(group);
  if (!id.valid()) return key;
  const Module& module = dictionary.module(id);
  return absl::StrCat(key, "\n", module.root, "\n", module.class_name);
}

SourceLine Grouping::LineOf(Group group, const Dictionary& dictionary) const {
  if (!NeedsStacks(by_) || LinePlaceOf(group) < kFirstLine) return {};
  return SourceLineOf(lines_->FrameOf(LinePlaceOf(group) - kFirstLine), dictionary);
}

std::vector<GeneratedPlace> Grouping::ViaOf(Group group) const {
  if (!NeedsStacks(by_) || LinePlaceOf(group) < kFirstLine) return {};
  return lines_->ViaOf(LinePlaceOf(group) - kFirstLine);
}

std::string Grouping::PlaceLabel(Group group, const Dictionary& dictionary) const {
  return LinePlaceOf(group) == kCompiledPlace ? kCompiledLabel : ToString(LineOf(group, dictionary));
}

std::string Grouping::Missing(const Dictionary& dictionary) const {
  if (!NeedsStacks(by_)) return categories_->missing;
  const std::string of_lines = lines_->Missing(dictionary);
  if (of_lines.empty() || categories_->missing.empty()) return categories_->missing + of_lines;
  return absl::StrCat(categories_->missing, " ", of_lines);
}

std::string Grouping::Label(Group group, const Capture& capture, const Dictionary& dictionary) const {
  if (IsNone(group)) return std::string(GroupingFactsOf(by_).none);
  if (IsWorkspace(group)) return kWorkspaceLabel;
  if (group == kBeforeGroup) return kBeforeLabel;
  const std::uint32_t id = group - kFirstGroup;
  switch (by_) {
    case GroupBy::kModule:
      return dictionary.module(ModuleOf(group).module).display_path();
    case GroupBy::kThread:
      return ThreadLabel(dictionary.thread(ThreadId{id}), capture);
    case GroupBy::kShape:
      return shapes_.TextOf(LayoutId{id});
    case GroupBy::kRank:
      return RankLabel(capture.processes()[id]);
    case GroupBy::kCategory:
      return LabelOfCategory(CategoryOfGroup(group));
    case GroupBy::kCategoryModule: {
      const std::string label = LabelOfCategory(CategoryOfGroup(group));
      const ModuleId module = ModuleOfCategoryGroup(group);
      return module.valid() ? absl::StrCat(dictionary.module(module).display_path(), ": ", label) : label;
    }
    case GroupBy::kLine:
      return PlaceLabel(group, dictionary);
    case GroupBy::kCategoryLine: {
      const std::string label = LabelOfCategory(CategoryOfGroup(group));
      return LinePlaceOf(group) == kNoPlace ? label : absl::StrCat(PlaceLabel(group, dictionary), ": ", label);
    }
    case GroupBy::kParameter:
      return ParameterOf(group).label();
    case GroupBy::kPool:
      return pools_->LabelOf(id);
    default:
      return dictionary.name(NameId{id}).text;
  }
}

}  // namespace memoir
