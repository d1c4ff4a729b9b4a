#include "tools/model/replay/events/range_events.h"

#include <algorithm>

namespace memoir {
namespace {

// Returns the source of an open range of a keyframe, which stores the kind of the range's event. kFunction if the
// keyframe is damaged.
RangeSource SourceOf(char kind) {
  const int source = kind - v1::RANGE_BEGIN_FUNCTION;
  if (kind == v1::RANGE_BEGIN_NVTX) return RangeSource::kNvtx;
  return source >= 0 && source <= 3 ? static_cast<RangeSource>(source) : RangeSource::kFunction;
}

}  // namespace

void RangeEvents::ShowBegin(ThreadReplay& thread, RunCursor& cursor, RangeSource source) {
  SharedReplayState& shared = shared_;
  Run& run = cursor.run;
  const NameEntry name = shared.context.ids().name(run.name.Next32());
  cursor.sequence = static_cast<std::int64_t>(static_cast<std::uint64_t>(cursor.sequence) +
                                              static_cast<std::uint64_t>(DecodeZigZag(run.sequence_delta.Next())));
  OpenRange range;
  range.name = name.id;
  range.schema = name.schema;
  range.is_operator = name.is_operator;
  range.source = source;
  range.begin = cursor.tick;
  range.sequence = cursor.sequence;
  shared.visibility.BeginRange(thread.id());
  if (source == RangeSource::kBackward) range.forward_thread = run.forward_thread.Next();
  const SignatureEntry signature = shared.context.ids().signature(run.signature.Next32());
  shared.tensors.Decode(cursor, signature.tensors);
  auto event = shared.context.MakeEvent<RangeBeginEvent>(thread.id(), cursor.tick);
  event.signature = signature.id;
  event.tensors = shared.tensors.tensors();
  Push(thread, range, event);
  shared.tensors.ShowFirstSeen(thread, cursor, false);
}

void RangeEvents::ShowEnd(ThreadReplay& thread, RunCursor& cursor) {
  SharedReplayState& shared = shared_;
  const SignatureEntry signature = shared.context.ids().signature(cursor.run.signature.Next32());
  shared.tensors.Decode(cursor, signature.tensors);
  if (!thread.TakeRangeEnd()) return;
  shared.tensors.ShowFirstSeen(thread, cursor, true);
  auto event = shared.context.MakeEvent<RangeEndEvent>(thread.id(), cursor.tick);
  event.signature = signature.id;
  event.tensors = shared.tensors.tensors();
  Pop(thread, event);
}

void RangeEvents::Push(ThreadReplay& thread, OpenRange& range, RangeBeginEvent& event) {
  SharedReplayState& shared = shared_;
  range.call = ++calls_;
  const bool finds_modules = shared.context.options().modules;
  if (finds_modules || range.source == RangeSource::kUser) range.role = shared.roles.Of(range.name, range.source);
  range.callstack = shared.context.ids().WorkingStack(thread.callstack, shared.threads.Working(thread).callstack);
  if (thread.stack().empty()) {
    shared.surrounding.NoteForwardThread(thread, range);
    range.base = shared.surrounding.BaseOf(thread);
    range.user_name = shared.surrounding.UserNameOf(range.base);
  }
  event.range = thread.Push(range);
  if (event.range == nullptr) return;
  if (finds_modules) shared.modules.SetModule(thread);
  event.stack = &thread.stack();
  shared.context.visitor().OnRangeBegin(event);
}

void RangeEvents::SetDepth(ThreadReplay& thread, std::size_t depth, Tick tick) {
  while (thread.stack().size() > depth) {
    auto event = shared_.context.MakeEvent<RangeEndEvent>(thread.id(), tick);
    event.implicit = true;
    Pop(thread, event);
  }
  while (thread.stack().size() < std::min(depth, ThreadReplay::kMaxDepth)) {
    OpenRange unknown;
    unknown.begin = tick;
    auto event = shared_.context.MakeEvent<RangeBeginEvent>(thread.id(), tick);
    event.before = true;
    Push(thread, unknown, event);
  }
}

void RangeEvents::CloseAll(const absl::flat_hash_set<ThreadId>& except, Tick tick) {
  shared_.threads.ForEach([&](ThreadReplay& thread) {
    if (except.contains(thread.id())) return;
    SetDepth(thread, 0, tick);
    thread.modules().clear();
  });
}

void RangeEvents::ApplyKeyframe(const v1::Keyframe& keyframe) {
  absl::flat_hash_set<ThreadId> listed;  // all other threads have no open range
  for (const v1::OpenRanges& open : keyframe.open()) {
    const std::size_t depth = open.kind().size();
    if (static_cast<std::size_t>(open.name_size()) != depth ||
        static_cast<std::size_t>(open.begin_tick_size()) != depth || depth > ThreadReplay::kMaxDepth) {
      return shared_.context.ReportDamage("open ranges of a keyframe do not match");
    }
    ThreadReplay& thread = shared_.threads.Of(shared_.context.ids().thread(open.thread()));
    listed.insert(thread.id());
    const auto same = [&](std::size_t at) {
      return thread.stack()[at].name == shared_.context.ids().name(open.name(static_cast<int>(at))).id;
    };
    std::size_t keep = 0;
    while (keep < depth && keep < thread.stack().size() && same(keep)) ++keep;
    SetDepth(thread, keep, keyframe.tick());
    for (std::size_t at = keep; at < depth; ++at) Restore(open, at, thread);
  }
  CloseAll(listed, keyframe.tick());
}

void RangeEvents::Restore(const v1::OpenRanges& open, std::size_t at, ThreadReplay& thread) {
  const NameEntry name = shared_.context.ids().name(open.name(static_cast<int>(at)));
  OpenRange range;
  range.name = name.id;
  range.schema = name.schema;
  range.is_operator = name.is_operator;
  range.source = SourceOf(open.kind()[at]);
  range.begin = open.begin_tick(static_cast<int>(at));
  auto event = shared_.context.MakeEvent<RangeBeginEvent>(thread.id(), range.begin);
  event.before = true;
  Push(thread, range, event);
  const bool has_modules = static_cast<std::size_t>(open.module_size()) == open.kind().size();
  if (shared_.context.options().modules && has_modules && thread.stack().size() == at + 1)
    thread.range_at(static_cast<std::int32_t>(at))->module =
        shared_.context.ids().module(open.module(static_cast<int>(at)));
}

}  // namespace memoir
