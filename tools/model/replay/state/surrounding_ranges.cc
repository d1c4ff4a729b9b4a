#include "tools/model/replay/state/surrounding_ranges.h"

#include <optional>
#include <string_view>

namespace memoir {
namespace {

constexpr std::string_view kEngineThread = "pt_autograd_";  // torch's thread name; older versions of torch set none

bool BeginsRange(v1::EventKind kind) {
  return kind == v1::RANGE_BEGIN_FUNCTION || kind == v1::RANGE_BEGIN_BACKWARD || kind == v1::RANGE_BEGIN_USER ||
         kind == v1::RANGE_BEGIN_DISPATCH || kind == v1::RANGE_BEGIN_NVTX;
}

// Finds the autograd node inside of the engine's range that begins now, in events that are not visited yet. Returns
// torch's number of the node's forward thread, because the engine's range itself has no such number. 0 if the range
// contains no node. nullopt if the runs end before the node.
std::optional<std::uint64_t> ForwardThreadAhead(const ThreadReplay& thread) {
  int depth = 1;  // the range that begins, and ranges inside it
  for (const RunCursor& cursor : thread.runs) {
    const bool is_current = &cursor == &thread.runs.front();
    for (std::size_t i = is_current ? cursor.index + 1 : 0; i < cursor.run.kind.size(); ++i) {
      const auto kind = static_cast<v1::EventKind>(cursor.run.kind[i]);
      if (kind == v1::RANGE_BEGIN_BACKWARD) return Column(cursor.run.forward_thread).Next();
      if (BeginsRange(kind)) ++depth;
      if (kind == v1::RANGE_END && --depth == 0) return 0;
    }
  }
  return std::nullopt;
}

}  // namespace

RangeBase SurroundingRanges::UserBaseOf(const ThreadReplay& thread) const {
  const RangeStack& stack = thread.stack();
  if (stack.empty()) return {};
  if (stack.back().innermost_user < 0) return stack.front().base;
  return {thread.id(), static_cast<std::uint32_t>(stack.back().innermost_user) + 1};
}

RangeBase SurroundingRanges::BaseOf(const ThreadReplay& thread) const {
  if (!thread.stack().empty()) return {};
  const ThreadReplay& working = threads_.Working(thread);
  if (&working != &thread) return {working.id(), static_cast<std::uint32_t>(working.stack().size())};
  const ThreadReplay* forward = threads_.Find(thread.forward_thread);
  const RangeBase base = forward == nullptr ? RangeBase() : UserBaseOf(*forward);
  if (base.depth > 0 || forward == nullptr) return base;
  // The forward thread may have ended, like the threads of torch.nn.DataParallel. Then this backward pass most
  // likely belongs to the forward thread of earlier nodes.
  const ThreadReplay* last = threads_.Find(last_forward_thread_);
  return last == nullptr || last == &thread ? base : UserBaseOf(*last);
}

NameId SurroundingRanges::UserNameOf(const RangeBase& base) const {
  const ThreadReplay* thread = threads_.Find(base.thread);
  if (thread == nullptr || base.depth == 0 || base.depth > thread->stack().size()) return {};
  return thread->stack()[base.depth - 1].user_name;
}

NameId SurroundingRanges::UserNameOf(const ThreadReplay& thread) const {
  return thread.innermost() == nullptr ? UserNameOf(BaseOf(thread)) : thread.innermost()->user_name;
}

bool SurroundingRanges::EngineLacksNode(const ThreadReplay& thread, const RunCursor& cursor, const DictionaryIds& ids) {
  const NameId name = ids.name(Column(cursor.run.name).Next32()).id;
  return roles_.Of(name, RangeSource::kFunction).backward && !ForwardThreadAhead(thread);
}

void SurroundingRanges::NoteForwardThread(ThreadReplay& thread, const OpenRange& beginning) {
  if (!roles_.Of(beginning.name, beginning.source).backward) {
    // A thread of autograd's engine keeps its forward thread between backward passes. Any other thread works for itself
    // as soon as it begins another range.
    if (thread.forward_thread.valid() && !dictionary_.thread(thread.id()).name.starts_with(kEngineThread))
      thread.forward_thread = ThreadId();
    return;
  }
  const bool node = beginning.source == RangeSource::kBackward;
  const ThreadReplay* forward =
      threads_.FindTorchThread(node ? beginning.forward_thread : ForwardThreadAhead(thread).value_or(0));
  if (forward == nullptr || forward == &thread) return;
  thread.forward_thread = forward->id();
  if (UserBaseOf(*forward).depth > 0) last_forward_thread_ = forward->id();
}

}  // namespace memoir
