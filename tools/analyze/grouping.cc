#include "tools/analyze/grouping.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/analyze/windowed_visitor.h"

namespace memoir {
namespace {

// The layout of every block: that of the first tensor result of the operator that allocated it, else of its first
// tensor argument.
class ShapePass : public Visitor {
 public:
  std::vector<LayoutId> shapes;

  void OnRangeBegin(const RangeBeginEvent& event) override {
    if (IsOutermostOperator(*event.range)) At(event.thread).argument = FirstLayout(event.tensors);
  }
  void OnAllocate(const AllocateEvent& event) override {
    shapes.resize(std::max<std::size_t>(shapes.size(), event.block->ordinal + 1));
    if (event.block->operator_call != 0) At(event.thread).blocks.push_back(event.block->ordinal);
  }
  void OnRangeEnd(const RangeEndEvent& event) override {
    if (!IsOutermostOperator(*event.range)) return;
    Operator& running = At(event.thread);
    const LayoutId result = FirstLayout(event.tensors);
    for (const std::uint64_t block : running.blocks) shapes[block] = result.valid() ? result : running.argument;
    running = Operator();
  }
  void OnProcessEnd(const ProcessEvent&) override {
    for (const Operator& running : operators_) {
      for (const std::uint64_t block : running.blocks) shapes[block] = running.argument;
    }
    operators_.clear();
  }

 private:
  struct Operator {
    LayoutId argument;
    std::vector<std::uint64_t> blocks;  // ordinals
  };
  static bool IsOutermostOperator(const OpenRange& range) {
    return range.outermost_operator >= 0 && static_cast<std::uint32_t>(range.outermost_operator) == range.depth;
  }
  static LayoutId FirstLayout(absl::Span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors) {
      if (tensor.layout.valid()) return tensor.layout;
    }
    return LayoutId();
  }
  Operator& At(ThreadId thread) {
    if (thread.value >= operators_.size()) operators_.resize(thread.value + 1);
    return operators_[thread.value];
  }
  std::vector<Operator> operators_;  // by ThreadId
};

std::string ThreadLabel(const ThreadInfo& thread, const Capture& capture) {
  const std::string rank = capture.processes().size() > 1
                               ? absl::StrCat("rank ", capture.processes()[thread.process.value].info.rank(), " ")
                               : "";
  const std::string name = thread.name.empty() ? "" : absl::StrCat(" (", thread.name, ")");
  return absl::StrCat(rank, "thread ", thread.number, name);
}

const char* NoneLabel(GroupBy by) {
  switch (by) {
    case GroupBy::kOperator:
      return "(no operator)";
    case GroupBy::kLeaf:
      return "(no range)";
    case GroupBy::kRange:
      return "(no range)";
    case GroupBy::kThread:
      return "(no thread)";
    case GroupBy::kShape:
      return "(no tensor)";
    case GroupBy::kRank:
      return "(no rank)";
  }
  return "(none)";
}

}  // namespace

absl::StatusOr<Grouping> Grouping::Make(const Capture& capture, GroupBy by, const Selection& selection) {
  Grouping grouping(by);
  if (by != GroupBy::kShape) return grouping;
  ShapePass pass;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, ReplayOptionsFor(selection, true, false));
  if (!report.ok()) return report.status();
  grouping.shapes_ = std::move(pass.shapes);
  return grouping;
}

std::string Grouping::Label(Group group, const Capture& capture, const Dictionary& dictionary) const {
  if (group == kNoneGroup) return NoneLabel(by_);
  if (group == kBeforeGroup) return "(before the window)";
  const std::uint32_t id = group - kFirstGroup;
  switch (by_) {
    case GroupBy::kThread:
      return ThreadLabel(dictionary.thread(ThreadId{id}), capture);
    case GroupBy::kShape:
      return ToString(dictionary.layout(LayoutId{id}));
    case GroupBy::kRank:
      return absl::StrCat("rank ", capture.processes()[id].info.rank());
    default:
      return dictionary.name(NameId{id}).text;
  }
}

}  // namespace memoir
