// Assigns each block to a row of a table, and names the rows.
#ifndef TOOLS_ANALYZE_GROUPING_GROUPING_H_
#define TOOLS_ANALYZE_GROUPING_GROUPING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/grouping/block_shapes.h"
#include "tools/analyze/grouping/pools.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// Number of a row: one of the constants below or, from kFirstGroup on, a number for each operator, thread, ...
using Group = std::uint32_t;
inline constexpr Group kNoneGroup = 0;       // blocks without an operator, thread, ...
inline constexpr Group kBeforeGroup = 1;     // blocks that were live before the window, if their row is unknown
inline constexpr Group kWorkspaceGroup = 2;  // workspaces of libraries
inline constexpr Group kFirstGroup = 3;
inline constexpr char kBeforeLabel[] = "(before the window)";
inline constexpr char kWorkspaceLabel[] = "(library workspace)";
// In groupings by line, the label of memory that compiled code allocated on a thread without Python frames.
inline constexpr char kCompiledLabel[] = "(compiled code)";

// Returns the outermost operator that allocated the block. If compiled code allocated the block without an operator,
// returns the innermost range, that is, the compiled region.
inline NameId MakerOf(const Block& block) {
  return block.operator_name.valid() || !block.in_compiled_region ? block.operator_name : block.leaf_name;
}

class Grouping {
 public:
  // The shape, category and parameter of a block are known only after its allocation. So a grouping by shape, category
  // or parameter waits for a replay. The grouping is valid for replays of the same rank. `own`: Selection::own.
  static Task<absl::StatusOr<Grouping>> Make(SharedCategories& shared, GroupBy by, std::string own);

  // Returns a grouping that needs categories, if the caller already has them. NeedsCategories(by) must be true.
  static Grouping FromCategories(GroupBy by, KnownCategories categories);
  // Returns a grouping by shape, if the caller already has the shapes.
  static Grouping FromShapes(BlockShapeTable shapes);
  // Returns a grouping. `by` must be a grouping that needs no earlier replay.
  static Grouping Of(GroupBy by, const std::string& own) { return Grouping(by, own); }

  // Returns true for groupings by operator, module and line. On devices with a caching allocator, these groupings have
  // a separate row for workspaces of libraries, because a workspace does not belong to one caller of the library.
  static constexpr bool SeparatesWorkspaces(GroupBy by) {
    return by == GroupBy::kOperator || by == GroupBy::kModule || by == GroupBy::kLine;
  }
  // Puts the blocks in `workspaces` into a separate group. Without this call, a workspace belongs to the row of its
  // operator, module or line.
  void SeparateWorkspaces(LibraryWorkspaces workspaces) { workspaces_ = std::move(workspaces); }
  // Returns true if the block belongs to the separate group of workspaces.
  bool IsSeparate(const Block& block) const {
    return !workspaces_.empty() && workspaces_.contains(block.recorded_ordinal());
  }

  GroupBy by() const { return by_; }
  const BlockCategories& categories() const { return *categories_; }  // empty unless NeedsCategories(by())
  Group GroupOf(const Block& block, ProcessId process, const Dictionary& dictionary) const {
    if (IsSeparate(block))
      return by_ == GroupBy::kModule ? GroupOfNumber(kWorkspaceNumber, block.phase) : kWorkspaceGroup;
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
        return GroupOfModule(block.module, block.phase);
      case GroupBy::kShape:
        return FromId(shapes_.LayoutOf(block));
      case GroupBy::kCategory:
        return kFirstGroup + categories_->CategoryOf(block);
      case GroupBy::kCategoryModule:
        return GroupOfCategory(categories_->CategoryOf(block), ModulePlaceOf(block));
      case GroupBy::kLine: {
        const std::uint32_t place = LinePlaceOf(block, dictionary);
        return place == kNoPlace ? kNoneGroup : kFirstGroup + place - 1;
      }
      case GroupBy::kCategoryLine:
        return GroupOfCategory(categories_->CategoryOf(block), LinePlaceOf(block, dictionary));
      case GroupBy::kParameter:
        return GroupOfParameter(block);
      case GroupBy::kPool:
        return Pools::HasPool(block, dictionary) ? kFirstGroup + pools_->NumberOf(block) : kNoneGroup;
    }
    return kNoneGroup;
  }
  // Returns the group of a block. `before`: true if the block was live before the selection. Such a block belongs to
  // the group of its operator, range, compiled region, shape, line or pool if this is known. A separate workspace
  // belongs to the group of workspaces. Any other block that was live before the selection belongs to kBeforeGroup.
  Group GroupOf(const Block& block, ProcessId process, const Dictionary& dictionary, bool before) const {
    if (!before) return GroupOf(block, process, dictionary);
    const bool named = by_ == GroupBy::kOperator || by_ == GroupBy::kLeaf || by_ == GroupBy::kRange ||
                       by_ == GroupBy::kShape || by_ == GroupBy::kLine || by_ == GroupBy::kRegion ||
                       by_ == GroupBy::kPool || IsSeparate(block);
    // A block that was live when the recording began has no operator. In an imported snapshot it may have a stack.
    const bool known = block.origin != BlockOrigin::kFound || (by_ == GroupBy::kLine && block.callstack.valid());
    const Group group = named && known ? GroupOf(block, process, dictionary) : kNoneGroup;
    return group == kNoneGroup ? kBeforeGroup : group;
  }
  // Returns true if the group depends on facts that only a block has, such as its category. In this case the group of a
  // segment is unknown.
  bool NeedsTheBlock() const {
    return NeedsCategories(by_) || by_ == GroupBy::kShape || by_ == GroupBy::kPool || !workspaces_.empty();
  }
  // A module has one group for each phase.
  static Group GroupOfModule(ModuleId module, Phase phase) {
    return GroupOfNumber(module.valid() ? module.value + kFirstModule : 0, phase);
  }
  struct ModuleGroup {
    ModuleId module;  // invalid: no module
    Phase phase = Phase::kOther;
  };
  static ModuleGroup ModuleOf(Group group) {
    if (group < kFirstGroup) return {};
    const Group number = NumberOf(group);
    return {number < kFirstModule ? ModuleId() : ModuleId{number - kFirstModule},
            static_cast<Phase>((group - kFirstGroup) % kPhases)};
  }
  // A category has one group for each place. A place is a module or a line; 0: no place.
  static Group GroupOfCategory(CategoryNumber category, std::uint32_t place) {
    return kFirstGroup + place * kMostCategories + category;
  }
  // Returns the category of a group of GroupBy::kCategory, kCategoryModule or kCategoryLine.
  CategoryNumber CategoryOfGroup(Group group) const {
    return static_cast<CategoryNumber>((group - kFirstGroup) % kMostCategories);
  }
  static ModuleId ModuleOfCategoryGroup(Group group) {
    const Group number = (group - kFirstGroup) / kMostCategories;
    return number == 0 ? ModuleId() : ModuleId{number - 1};
  }
  // Returns the line of a group of GroupBy::kLine or kCategoryLine. SourceLine::known() is false if the group has no
  // line.
  SourceLine LineOf(Group group, const Dictionary& dictionary) const;
  // Returns the lines of generated code (of torch.compile, for example) that ran for the line of the group and
  // allocated its blocks.
  std::vector<GeneratedPlace> ViaOf(Group group) const;
  // For GroupBy::kParameter: returns whether the group is the parameter itself, its gradient or its state. Buffers
  // count as parameters.
  ParameterPart PartOf(Group group) const {
    return static_cast<ParameterPart>((group - kFirstGroup) % static_cast<Group>(kParameterParts));
  }
  const Parameter& ParameterOf(Group group) const {
    return categories_->parameters[(group - kFirstGroup) / static_cast<Group>(kParameterParts)];
  }
  // Returns true for the group of blocks that were allocated outside of any operator, module, ...
  bool IsNone(Group group) const {
    return group == kNoneGroup || (by_ == GroupBy::kModule && group >= kFirstGroup && NumberOf(group) == 0);
  }
  // Returns true for the separate group of library workspaces.
  bool IsWorkspace(Group group) const {
    return by_ == GroupBy::kModule ? group >= kFirstGroup && NumberOf(group) == kWorkspaceNumber
                                   : group == kWorkspaceGroup;
  }
  // Returns the key of a row. Groups with equal keys share a row. The key is the label, for a module also its root and
  // class, for a parameter also its root.
  std::string Key(Group group, const Capture& capture, const Dictionary& dictionary) const;
  // Returns one line that names the information that the rows lack. Usually empty. Must be called after the last block.
  std::string Missing(const Dictionary& dictionary) const;
  // Returns the label of a row. Different groups may have the same label, for example processes of one rank, or two ids
  // of names with the same text.
  std::string Label(Group group, const Capture& capture, const Dictionary& dictionary) const;

 private:
  explicit Grouping(GroupBy by, const std::string& own = "")
      : by_(by), lines_(std::make_shared<SourceLines>(own)), pools_(std::make_shared<Pools>()) {}
  template <class IdType>
  static Group FromId(IdType id) {
    return id.valid() ? id.value + kFirstGroup : kNoneGroup;
  }

  static constexpr Group kMostCategories = kMostRules;
  // Numbers of modules for GroupBy::kModule. 0: no module.
  static constexpr Group kWorkspaceNumber = 1;
  static constexpr Group kFirstModule = 2;
  static Group GroupOfNumber(Group number, Phase phase) {
    return kFirstGroup + number * static_cast<Group>(kPhases) + static_cast<Group>(phase);
  }
  static Group NumberOf(Group group) { return (group - kFirstGroup) / static_cast<Group>(kPhases); }
  Group GroupOfParameter(const Block& block) const;
  // Returns the place for GroupBy::kCategoryModule. 0 for a block without a module, and for a library's workspace.
  std::uint32_t ModulePlaceOf(const Block& block) const {
    const bool none = !block.module.valid() || IsOfLibrary(categories_->RuleOf(block));
    return none ? 0 : block.module.value + 1;
  }
  std::string PlaceLabel(Group group, const Dictionary& dictionary) const;
  // Places for GroupBy::kLine and kCategoryLine: kNoPlace, kCompiledPlace, or, from kFirstLine on, a number for each
  // line.
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
  BlockShapeTable shapes_;
  KnownCategories categories_ = std::make_shared<const BlockCategories>();  // never nullptr
  LibraryWorkspaces workspaces_;
  std::shared_ptr<SourceLines> lines_;  // numbers lines in the order of first use; never nullptr
  std::shared_ptr<Pools> pools_;        // never nullptr
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_GROUPING_H_
