// Which row a block belongs to, and what the row is called.
#ifndef TOOLS_ANALYZE_GROUPING_GROUPING_H_
#define TOOLS_ANALYZE_GROUPING_GROUPING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// A small number: kNoneGroup, kBeforeGroup, or from kFirstGroup on one per operator, thread, ...
using Group = std::uint32_t;
inline constexpr Group kNoneGroup = 0;
inline constexpr Group kBeforeGroup = 1;
inline constexpr Group kFirstGroup = 2;
inline constexpr char kBeforeLabel[] = "(before the window)";

// The outermost operator that allocated; of compiled code, which calls none, its region.
inline NameId MakerOf(const Block& block) {
  return block.operator_name.valid() || !block.in_compiled_region ? block.operator_name : block.leaf_name;
}

class Grouping {
 public:
  // Shapes, categories and parameters need a pass of their own over the capture: they are known only after a block's
  // allocation.
  static absl::StatusOr<Grouping> Make(const Capture& capture, GroupBy by, const Selection& selection);

  GroupBy by() const { return by_; }
  const BlockCategories& categories() const { return categories_; }  // empty unless NeedsCategories
  Group Of(const Block& block, ProcessId process) const {
    switch (by_) {
      case GroupBy::kOperator:
        return FromId(MakerOf(block));
      case GroupBy::kLeaf:
        return FromId(block.leaf_name);
      case GroupBy::kRange:
        return FromId(block.user_name);
      case GroupBy::kThread:
        return FromId(block.thread);
      case GroupBy::kRank:
        return FromId(process);
      case GroupBy::kModule:
        return OfModule(block.module, block.phase);
      case GroupBy::kShape:
        return block.ordinal < shapes_.size() ? FromId(shapes_[block.ordinal]) : kNoneGroup;
      case GroupBy::kCategory:
        return kFirstGroup + categories_.CategoryOf(block);
      case GroupBy::kCategoryModule:
        return OfCategory(categories_.CategoryOf(block), block.module);
      case GroupBy::kParameter:
        return OfParameter(block);
    }
    return kNoneGroup;
  }
  // The same of a block that was live `before` the window: by its operator, range or shape where that is known.
  Group Of(const Block& block, ProcessId process, bool before) const {
    if (!before) return Of(block, process);
    const bool named =
        by_ == GroupBy::kOperator || by_ == GroupBy::kLeaf || by_ == GroupBy::kRange || by_ == GroupBy::kShape;
    const Group group = named && block.origin != BlockOrigin::kFound ? Of(block, process) : kNoneGroup;
    return group == kNoneGroup ? kBeforeGroup : group;
  }
  // Of a segment, which is like a block but for its ordinal, nothing is known.
  bool NeedsTheBlock() const { return NeedsCategories(by_) || by_ == GroupBy::kShape; }
  // A module has a group for each phase.
  static Group OfModule(ModuleId module, Phase phase) {
    return kFirstGroup + (module.valid() ? module.value + 1 : 0) * static_cast<Group>(kPhases) +
           static_cast<Group>(phase);
  }
  struct ModuleGroup {
    ModuleId module;  // invalid: of none
    Phase phase = Phase::kOther;
  };
  static ModuleGroup ModuleOf(Group group) {
    if (group < kFirstGroup) return {};
    const Group number = (group - kFirstGroup) / static_cast<Group>(kPhases);
    return {number == 0 ? ModuleId() : ModuleId{number - 1}, static_cast<Phase>((group - kFirstGroup) % kPhases)};
  }
  // A category has a group for each module, and for none.
  static Group OfCategory(CategoryNumber category, ModuleId module) {
    return kFirstGroup + (module.valid() ? module.value + 1 : 0) * kMostCategories + category;
  }
  // Of GroupBy::kCategory and kCategoryModule.
  CategoryNumber CategoryOfGroup(Group group) const {
    return static_cast<CategoryNumber>((group - kFirstGroup) % kMostCategories);
  }
  static ModuleId ModuleOfCategoryGroup(Group group) {
    const Group number = (group - kFirstGroup) / kMostCategories;
    return number == 0 ? ModuleId() : ModuleId{number - 1};
  }
  // What of a parameter a group is. Buffers stand among parameters.
  ParameterPart PartOf(Group group) const {
    return static_cast<ParameterPart>((group - kFirstGroup) % static_cast<Group>(kParameterParts));
  }
  const Parameter& ParameterOf(Group group) const {
    return categories_.parameters[(group - kFirstGroup) / static_cast<Group>(kParameterParts)];
  }
  // Allocated outside of any operator, module, ...
  bool IsNone(Group group) const {
    return group == kNoneGroup || (by_ == GroupBy::kModule && group >= kFirstGroup && !ModuleOf(group).module.valid());
  }
  // What tells rows apart: the label, and of a module its root and class, too.
  std::string Key(Group group, const Capture& capture, const Dictionary& dictionary) const;
  const std::string& missing() const { return categories_.missing; }  // of groupings that need categories
  // Different groups may share a label: processes of one rank, a name that is an operator and a text.
  std::string Label(Group group, const Capture& capture, const Dictionary& dictionary) const;

 private:
  explicit Grouping(GroupBy by) : by_(by) {}
  template <class IdType>
  static Group FromId(IdType id) {
    return id.valid() ? id.value + kFirstGroup : kNoneGroup;
  }

  static constexpr Group kMostCategories = kMostRules;
  Group OfParameter(const Block& block) const;

  GroupBy by_;
  std::vector<LayoutId> shapes_;  // by Block::ordinal
  BlockCategories categories_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_GROUPING_H_
