// The part of a replay that finds which threads work for others (docs/event_schema.md, "Threads that work for others").
//
// Autograd runs the nodes of a GPU on a thread of its own, while the thread that called backward waits: what stands
// there stands inside the user range that is open on the thread of the forward pass. A thread of OpenMP works in the
// parallel region of another one: all that is open there is around it.
#include <optional>
#include <string_view>

#include "tools/model/replayer.h"

namespace memoir {
namespace {

constexpr std::string_view kEngineThread = "pt_autograd_";  // as torch names them; older ones name none

bool BeginsRange(v1::EventKind kind) {
  return kind == v1::RANGE_BEGIN_FUNCTION || kind == v1::RANGE_BEGIN_BACKWARD || kind == v1::RANGE_BEGIN_USER ||
         kind == v1::RANGE_BEGIN_DISPATCH || kind == v1::RANGE_BEGIN_NVTX;
}

// The engine's range around a node does not say where its forward pass was, and the node inside does. nullopt: what is
// read of the thread ends before one of both.
std::optional<std::uint64_t> ForwardThreadAhead(const ThreadReplay& thread) {
  int depth = 1;  // the range that begins, and those inside it
  for (const RunCursor& cursor : thread.runs) {
    const bool in_hand = &cursor == &thread.runs.front();
    for (std::size_t i = in_hand ? cursor.index + 1 : 0; i < cursor.run.kind.size(); ++i) {
      const auto kind = static_cast<v1::EventKind>(cursor.run.kind[i]);
      if (kind == v1::RANGE_BEGIN_BACKWARD) return Column(cursor.run.forward_thread).Next();
      if (BeginsRange(kind)) ++depth;
      if (kind == v1::RANGE_END && --depth == 0) return 0;
    }
  }
  return std::nullopt;
}

}  // namespace

// Of regions inside each other the outermost counts, as of operators.
// NOLINTBEGIN(bugprone-return-const-ref-from-parameter): of the threads that this holds, never a temporary
const ThreadReplay& Replayer::FindWorkingThread(const ThreadReplay& thread) const {
  constexpr int kMostRegions = 4;
  const ThreadReplay* working = &thread;
  for (int i = 0; i < kMostRegions; ++i) {
    const ThreadReplay* owner = FindThread(dictionary_.thread(working->id()).works_for);
    if (owner == nullptr) break;
    working = owner;
  }
  return working->stack().empty() ? thread : *working;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

ThreadId Replayer::working_thread(ThreadId thread) const {
  const ThreadReplay* known = FindThread(thread);
  return known == nullptr ? thread : WorkingThread(*known).id();
}

const RangeStack& Replayer::stack(ThreadId thread) const {
  static const RangeStack empty;
  const ThreadReplay* known = FindThread(thread);
  return known == nullptr ? empty : WorkingThread(*known).stack();
}

RangeBase Replayer::UserBaseOf(const ThreadReplay& thread) const {
  const RangeStack& stack = thread.stack();
  if (stack.empty()) return {};
  if (stack.back().innermost_user < 0) return stack.front().base;
  return {thread.id(), static_cast<std::uint32_t>(stack.back().innermost_user) + 1};
}

RangeBase Replayer::BaseOf(const ThreadReplay& thread) const {
  if (!thread.stack().empty()) return {};
  const ThreadReplay& working = WorkingThread(thread);
  if (&working != &thread) return {working.id(), static_cast<std::uint32_t>(working.stack().size())};
  const ThreadReplay* forward = FindThread(thread.forward_thread);
  const RangeBase base = forward == nullptr ? RangeBase() : UserBaseOf(*forward);
  if (base.depth > 0 || forward == nullptr) return base;
  // That thread may be gone, as those of torch.nn.DataParallel. The pass is most likely the one that nodes before were
  // of.
  const ThreadReplay* last = FindThread(last_forward_thread_);
  return last == nullptr || last == &thread ? base : UserBaseOf(*last);
}

NameId Replayer::UserNameOf(const RangeBase& base) const {
  const ThreadReplay* thread = FindThread(base.thread);
  if (thread == nullptr || base.depth == 0 || base.depth > thread->stack().size()) return {};
  return thread->stack()[base.depth - 1].user_name;
}

NameId Replayer::UserNameOf(const ThreadReplay& thread) const {
  return thread.innermost() == nullptr ? UserNameOf(BaseOf(thread)) : thread.innermost()->user_name;
}

// Of a thread with nothing open. Between two chunks no record is lost: the node is in the next one.
bool Replayer::WaitsForNode(const ThreadReplay& thread, const RunCursor& cursor) {
  if (cursor.kind() != v1::RANGE_BEGIN_FUNCTION) return false;
  const NameId name = ids_->name(Column(cursor.run.name).Next32()).id;
  const bool waits = RoleOf(name, RangeSource::kFunction).backward && !ForwardThreadAhead(thread);
  if (waits) waiting_ = kWaits;
  return waits;
}

void Replayer::NoteForwardThread(ThreadReplay& thread, const OpenRange& beginning) {
  if (!RoleOf(beginning.name, beginning.source).backward) {
    // What the engine runs behind a pass is of that pass; another thread does something of its own.
    if (thread.forward_thread.valid() && !dictionary_.thread(thread.id()).name.starts_with(kEngineThread))
      thread.forward_thread = ThreadId();
    return;
  }
  const bool node = beginning.source == RangeSource::kBackward;
  const ThreadReplay* forward =
      FindTorchThread(node ? beginning.forward_thread : ForwardThreadAhead(thread).value_or(0));
  if (forward == nullptr || forward == &thread) return;
  thread.forward_thread = forward->id();
  if (UserBaseOf(*forward).depth > 0) last_forward_thread_ = forward->id();
}

}  // namespace memoir
