#include "tools/analyze/grouping.h"

#include "absl/strings/str_cat.h"
#include "tools/analyze/block_shapes.h"
#include "tools/analyze/windowed_visitor.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

std::string ThreadLabel(const ThreadInfo& thread, const Capture& capture) {
  const std::string rank = capture.processes().size() > 1 ? ProcessLabel(capture, thread.process) + " " : "";
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
    case GroupBy::kModule:
      return "(no module)";
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
  BlockShapes shapes;
  const absl::StatusOr<ReplayReport> report = capture.Replay(shapes, ReplayOptionsFor(selection, true, false));
  if (!report.ok()) return report.status();
  grouping.shapes_ = shapes.Take();
  return grouping;
}

std::string Grouping::Key(Group group, const Capture& capture, const Dictionary& dictionary) const {
  std::string key = Label(group, capture, dictionary);
  if (by_ != GroupBy::kModule || IsNone(group) || group == kBeforeGroup) return key;
  const Module& module = dictionary.module(ModuleOf(group).module);
  return absl::StrCat(key, "\n", module.root, "\n", module.class_name);
}

std::string Grouping::Label(Group group, const Capture& capture, const Dictionary& dictionary) const {
  if (IsNone(group)) return NoneLabel(by_);
  if (group == kBeforeGroup) return "(before the window)";
  const std::uint32_t id = group - kFirstGroup;
  switch (by_) {
    case GroupBy::kModule: {
      const Module& module = dictionary.module(ModuleOf(group).module);
      return module.path.empty() ? module.root : module.path;
    }
    case GroupBy::kThread:
      return ThreadLabel(dictionary.thread(ThreadId{id}), capture);
    case GroupBy::kShape:
      return ToString(dictionary.layout(LayoutId{id}));
    case GroupBy::kRank:
      return RankLabel(capture.processes()[id]);
    default:
      return dictionary.name(NameId{id}).text;
  }
}

}  // namespace memoir
