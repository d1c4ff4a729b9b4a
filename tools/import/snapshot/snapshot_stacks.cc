#include "tools/import/snapshot/snapshot_stacks.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "tools/import/snapshot/native_function_names.h"

namespace memoir {
namespace {

using snapshot::ObjectKind;
constexpr char kNodeFile[] = "(backward)";

}  // namespace

SnapshotStacks::SnapshotStacks(PickleHeap& heap, TorchSnapshot& snapshot)
    : heap_(heap), snapshot_(snapshot), facts_(snapshot.frames.size()) {}

SnapshotStacks::Index SnapshotStacks::TextOf(Value value) {
  if (!value.is(PickleValue::Kind::kText)) return 0;
  const auto at = static_cast<std::size_t>(value.data());
  if (at >= text_numbers_.size()) text_numbers_.resize(std::max(at + 1, heap_.texts()));
  Index& number = text_numbers_[at];
  if (number != 0) return number;
  const std::string_view text = heap_.text(static_cast<std::uint32_t>(at));
  if (text.empty()) return 0;
  number = static_cast<Index>(snapshot_.texts.size());
  snapshot_.texts.emplace_back(text);
  return number;
}

SnapshotStacks::Index SnapshotStacks::AddText(std::string_view text) {
  if (text.empty()) return 0;
  const auto next = static_cast<Index>(snapshot_.texts.size());
  const auto [known, added] = made_texts_.try_emplace(std::string(text), next);
  if (added) snapshot_.texts.emplace_back(text);
  return known->second;
}

SnapshotStacks::Index SnapshotStacks::FrameNumber(const TorchSnapshot::Frame& frame) {
  const auto [known, added] = frame_numbers_.try_emplace(frame, static_cast<Index>(snapshot_.frames.size()));
  if (!added) return known->second;
  snapshot_.frames.push_back(frame);
  // These are copies, because AddText() may move the texts.
  const std::string file = snapshot_.texts[frame.file], function = snapshot_.texts[frame.function];
  FrameFacts& facts = facts_.emplace_back();
  facts.python = IsPythonFile(file);
  if (facts.python) return known->second;
  facts.plumbing = IsPlumbing(function, file);
  facts.operator_name = AddText(OperatorOf(function));
  facts.node = AddText(AutogradNodeOf(function));
  return known->second;
}

SnapshotStacks::Index SnapshotStacks::AddFrame(const snapshot::Fields& fields) {
  return FrameNumber({TextOf(fields[snapshot::k_filename]), TextOf(fields[snapshot::k_name]),
                      static_cast<std::uint32_t>(heap_.Integer(fields[snapshot::k_line]))});
}

SnapshotStacks::Index SnapshotStacks::StackBelow(Index parent, Index frame) {
  const auto next = static_cast<Index>(snapshot_.stacks.size());
  const auto [known, added] = stack_numbers_.try_emplace((std::uint64_t{parent} << 32) | frame, next);
  if (added) snapshot_.stacks.push_back({parent, frame});
  return known->second;
}

SnapshotStacks::Index SnapshotStacks::AddOrigin(const TorchSnapshot::Origin& origin) {
  if (origin == TorchSnapshot::Origin()) return 0;
  const auto next = static_cast<Index>(snapshot_.origins.size());
  const auto [known, added] = origin_numbers_.try_emplace(origin, next);
  if (added) snapshot_.origins.push_back(origin);
  return known->second;
}

// `frames` begin with the outermost frame. The operator of the origin is the outermost operator inside the innermost
// autograd node.
TorchSnapshot::Origin SnapshotStacks::OriginFromFrames(const std::vector<Index>& frames) {
  TorchSnapshot::Origin origin;
  bool any_python = false, any_telling = false;
  for (const Index frame : frames) {
    const FrameFacts& facts = facts_[frame];
    any_python = any_python || facts.python;
    any_telling = any_telling || !facts.plumbing;
    if (facts.node != 0) {
      origin.node = facts.node;
      origin.operator_name = 0;
    } else if (origin.operator_name == 0) {
      origin.operator_name = facts.operator_name;
    }
  }
  if (!any_python && origin.node != 0) {
    origin.stack = StackBelow(0, FrameNumber({AddText(kNodeFile), origin.node, 0}));
    return origin;
  }
  for (const Index frame : frames) {
    if (any_python ? facts_[frame].python : !any_telling || !facts_[frame].plumbing)
      origin.stack = StackBelow(origin.stack, frame);
  }
  return origin;
}

SnapshotStacks::Index SnapshotStacks::OriginOf(Value frames) {
  if (const auto known = ObjectNumber(heap_, frames, ObjectKind::kOrigin)) return static_cast<Index>(*known);
  const std::span<const Value> items = heap_.Items(frames);
  std::vector<Index> numbers;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (const auto frame = ObjectNumber(heap_, items[i], ObjectKind::kFrame))
      numbers.push_back(static_cast<Index>(*frame));
  }
  if (items.empty()) return 0;
  const Index origin = numbers.empty() ? 0 : AddOrigin(OriginFromFrames(numbers));
  heap_.Replace(frames, snapshot::PackObject(ObjectKind::kOrigin, origin));
  return origin;
}

}  // namespace memoir
