// Which row a block belongs to, and what the row is called.
#ifndef TOOLS_ANALYZE_GROUPING_GROUPING_H_
#define TOOLS_ANALYZE_GROUPING_GROUPING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/library_workspaces.h"
#include "tools/analyze/grouping/block_shapes.h"
#include "tools/analyze/grouping/pools.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// A small number: kNoneGroup, kBeforeGroup, kWorkspaceGroup, or from kFirstGroup on one per operator, thread, ...
using Group = std::uint32_t;
inline constexpr Group kNoneGroup = 0;
inline constexpr Group kBeforeGroup = 1;
inline constexpr Group kWorkspaceGroup = 2;
inline constexpr Group kFirstGroup = 3;
inline constexpr char kBeforeLabel[] = "(before the window)";
inline constexpr char kWorkspaceLabel[] = "(library workspace)";
// Of lines: what compiled code allocated on a thread without Python frames.
inline constexpr char kCompiledLabel[] = "(compiled code)";

// The outermost operator that allocated; of compiled code, which calls none, its region.
inline NameId MakerOf(const Block& block) {
  return block.operator_name.valid() || !block.in_compiled_region ? block.operator_name : block.leaf_name;
}

class Grouping {
 public:
  // Shapes, categories and parameters need a pass of their own over the capture: they are known only after a block's
  // allocation.
  static absl::StatusOr<Grouping> Make(const Capture& capture, GroupBy by, const Selection& selection);

  // From what such a pass found: of groupings that need categories, and of kShape.
  static Grouping Of(GroupBy by, BlockCategories categories);
  static Grouping OfShapes(ShapesOfBlocks shapes);

  // Operators, modules and lines of a device with a caching allocator: what a library took of it for itself belongs to
  // none of those that used the library, and not to the one that did so first.
  static constexpr bool TellsWorkspaces(GroupBy by) {
    return by == GroupBy::kOperator || by == GroupBy::kModule || by == GroupBy::kLine;
  }
  // They become a group of their own. Without this they are of what allocated them.
  void SetApart(LibraryWorkspaces workspaces) { workspaces_ = std::move(workspaces); }
  bool IsApart(const Block& block) const { return !workspaces_.empty() && workspaces_.contains(block.ordinal); }

  GroupBy by() const { return by_; }
  const BlockCategories& categories() const { return categories_; }  // empty unless NeedsCategories
  Group Of(const Block& block, ProcessId process, const Dictionary& dictionary) const {
    if (IsApart(block)) return by_ == GroupBy::kModule ? OfNumber(kWorkspaceNumber, block.phase) : kWorkspaceGroup;
    switch (by_) {
      case GroupBy::kOperator:
        return FromId(MakerOf(block));
      case GroupBy::kLeaf:
        return FromId(block.leaf_name);
      case GroupBy::kRange:
        return FromId(block.user_name);
      case GroupBy::kRegion:
        return FromId(block.region);
      case GroupBy::kThread:
        return FromId(block.thread);
      case GroupBy::kRank:
        return FromId(process);
      case GroupBy::kModule:
        return OfModule(block.module, block.phase);
      case GroupBy::kShape:
        return FromId(ShapeOf(block));
      case GroupBy::kCategory:
        return kFirstGroup + categories_.CategoryOf(block);
      case GroupBy::kCategoryModule:
        return OfCategory(categories_.CategoryOf(block), ModulePlaceOf(block));
      case GroupBy::kLine: {
        const std::uint32_t place = LinePlaceOf(block, dictionary);
        return place == kNoPlace ? kNoneGroup : kFirstGroup + place - 1;
      }
      case GroupBy::kCategoryLine:
        return OfCategory(categories_.CategoryOf(block), LinePlaceOf(block, dictionary));
      case GroupBy::kParameter:
        return OfParameter(block);
      case GroupBy::kPool:
        return Pools::HasPool(block, dictionary) ? kFirstGroup + pools_->NumberOf(block) : kNoneGroup;
    }
    return kNoneGroup;
  }
  // The same of a block that was live `before` the window: by its operator, range, shape or line where that is
  // known.
  Group Of(const Block& block, ProcessId process, const Dictionary& dictionary, bool before) const {
    if (!before) return Of(block, process, dictionary);
    const bool named = by_ == GroupBy::kOperator || by_ == GroupBy::kLeaf || by_ == GroupBy::kRange ||
                       by_ == GroupBy::kShape || by_ == GroupBy::kLine || by_ == GroupBy::kRegion ||
                       by_ == GroupBy::kPool || IsApart(block);
    // Of one that was found nobody has the operator; an imported snapshot may have its stack.
    const bool known = block.origin != BlockOrigin::kFound || (by_ == GroupBy::kLine && block.callstack.valid());
    const Group group = named && known ? Of(block, process, dictionary) : kNoneGroup;
    return group == kNoneGroup ? kBeforeGroup : group;
  }
  // Of a segment, which is like a block but for its ordinal and its size, nothing is known.
  bool NeedsTheBlock() const {
    return NeedsCategories(by_) || by_ == GroupBy::kShape || by_ == GroupBy::kPool || !workspaces_.empty();
  }
  // A module has a group for each phase.
  static Group OfModule(ModuleId module, Phase phase) {
    return OfNumber(module.valid() ? module.value + kFirstModule : 0, phase);
  }
  struct ModuleGroup {
    ModuleId module;  // invalid: of none
    Phase phase = Phase::kOther;
  };
  static ModuleGroup ModuleOf(Group group) {
    if (group < kFirstGroup) return {};
    const Group number = NumberOf(group);
    return {number < kFirstModule ? ModuleId() : ModuleId{number - kFirstModule},
            static_cast<Phase>((group - kFirstGroup) % kPhases)};
  }
  // A category has a group for each place: a module, or line, of which 0 is none.
  static Group OfCategory(CategoryNumber category, std::uint32_t place) {
    return kFirstGroup + place * kMostCategories + category;
  }
  // Of GroupBy::kCategory, kCategoryModule and kCategoryLine.
  CategoryNumber CategoryOfGroup(Group group) const {
    return static_cast<CategoryNumber>((group - kFirstGroup) % kMostCategories);
  }
  static ModuleId ModuleOfCategoryGroup(Group group) {
    const Group number = (group - kFirstGroup) / kMostCategories;
    return number == 0 ? ModuleId() : ModuleId{number - 1};
  }
  // Of GroupBy::kLine and kCategoryLine: the line, where it has one.
  SourceLine LineOf(Group group, const Dictionary& dictionary) const;
  // The generated code through which it allocated.
  std::vector<GeneratedPlace> ViaOf(Group group) const;
  // What of a parameter a group is. Buffers stand among parameters.
  ParameterPart PartOf(Group group) const {
    return static_cast<ParameterPart>((group - kFirstGroup) % static_cast<Group>(kParameterParts));
  }
  const Parameter& ParameterOf(Group group) const {
    return categories_.parameters[(group - kFirstGroup) / static_cast<Group>(kParameterParts)];
  }
  // Allocated outside of any operator, module, ...
  bool IsNone(Group group) const {
    return group == kNoneGroup || (by_ == GroupBy::kModule && group >= kFirstGroup && NumberOf(group) == 0);
  }
  // Of what is set apart.
  bool IsWorkspace(Group group) const {
    return by_ == GroupBy::kModule ? group >= kFirstGroup && NumberOf(group) == kWorkspaceNumber
                                   : group == kWorkspaceGroup;
  }
  // What tells rows apart: the label, and of a module its root and class, too.
  std::string Key(Group group, const Capture& capture, const Dictionary& dictionary) const;
  // What is not known of the rows, in one line; mostly empty. After the last block.
  std::string Missing(const Dictionary& dictionary) const;
  // Different groups may share a label: processes of one rank, a name that is an operator and a text.
  std::string Label(Group group, const Capture& capture, const Dictionary& dictionary) const;

 private:
  explicit Grouping(GroupBy by, const std::string& own = "")
      : by_(by), lines_(std::make_shared<SourceLines>(own)), pools_(std::make_shared<Pools>()) {}
  template <class IdType>
  static Group FromId(IdType id) {
    return id.valid() ? id.value + kFirstGroup : kNoneGroup;
  }

  static constexpr Group kMostCategories = kMostRules;
  // Of GroupBy::kModule; 0: of none.
  static constexpr Group kWorkspaceNumber = 1;
  static constexpr Group kFirstModule = 2;
  static Group OfNumber(Group number, Phase phase) {
    return kFirstGroup + number * static_cast<Group>(kPhases) + static_cast<Group>(phase);
  }
  static Group NumberOf(Group group) { return (group - kFirstGroup) / static_cast<Group>(kPhases); }
  Group OfParameter(const Block& block) const;
  LayoutId ShapeOf(const Block& block) const {
    const LayoutId own = shapes_.Of(block.ordinal);
    return own.valid() || !block.inferred() ? own : shapes_.Of(block.counterpart);
  }
  // Of GroupBy::kCategoryModule; 0: of none, as libraries' workspaces are.
  std::uint32_t ModulePlaceOf(const Block& block) const {
    const bool none = !block.module.valid() || IsOfLibrary(categories_.RuleOf(block));
    return none ? 0 : block.module.value + 1;
  }
  std::string PlaceLabel(Group group, const Dictionary& dictionary) const;
  // Of GroupBy::kLine and kCategoryLine: kNoPlace, kCompiledPlace, or from kFirstLine on one for each line.
  static constexpr std::uint32_t kNoPlace = 0, kCompiledPlace = 1, kFirstLine = 2;
  std::uint32_t LinePlaceOf(const Block& block, const Dictionary& dictionary) const {
    if (const StackId stack = block.line_callstack(); stack.valid())
      return kFirstLine + lines_->NumberOf(stack, dictionary);
    return block.in_compiled_region ? kCompiledPlace : kNoPlace;
  }
  std::uint32_t LinePlaceOf(Group group) const {
    if (group < kFirstGroup) return kNoPlace;
    return by_ == GroupBy::kLine ? group - kFirstGroup + 1 : (group - kFirstGroup) / kMostCategories;
  }

  GroupBy by_;
  ShapesOfBlocks shapes_;
  BlockCategories categories_;
  LibraryWorkspaces workspaces_;
  std::shared_ptr<SourceLines> lines_;  // numbers lines as they are first asked for; never null
  std::shared_ptr<Pools> pools_;        // likewise
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_GROUPING_H_
