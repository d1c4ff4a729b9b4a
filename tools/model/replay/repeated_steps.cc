#include "tools/model/replay/repeated_steps.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace memoir {
namespace {

// Returns the number of groups of `span` that end by `until`.
std::size_t GroupsUntil(const CollapsedStepSpanCursor& span, Tick until) {
  std::size_t groups = 0;
  for (std::size_t most = span.groups_left(); groups < most;) {
    const std::size_t middle = groups + (most - groups + 1) / 2;
    span.End(middle - 1) <= until ? groups = middle : most = middle - 1;
  }
  return groups;
}

}  // namespace

// After a loss, `joins` is false. A lost free is noticed when another block is allocated at the address of the freed
// block. Joined rows would hide this: they show blocks at invented addresses (pattern_row_addresses.h), and may be
// collapsed.
void RepeatedSteps::Add(absl::Span<const std::shared_ptr<Chunk>> chunks, bool joins) {
  JoinedPatternRows joined;
  for (const std::shared_ptr<Chunk>& chunk : chunks) {
    for (const std::shared_ptr<const StepPattern>& pattern : chunk->payload->step_patterns) patterns_.Define(pattern);
    if (chunk->payload->pattern_rows.rows.empty()) continue;
    if ((joined.chunks().empty() || joins) && joined.Add(chunk, patterns_)) continue;
    AddJoined(std::exchange(joined, JoinedPatternRows()));
    joined.Add(chunk, patterns_);
  }
  AddJoined(std::move(joined));
}

void RepeatedSteps::AddJoined(JoinedPatternRows joined) {
  if (joined.chunks().empty()) return;
  cursors_.emplace_back(std::move(joined), context_.visitor().takes_repeats());
  if (!cursors_.back().done()) return;
  ReportDamage(cursors_.back());
  cursors_.pop_back();
}

void RepeatedSteps::ReportDamage(const PatternRowCursor& cursor) {
  const Chunk* const damaged = cursor.damaged_chunk();
  if (damaged == nullptr) return;
  context_.report().damage.push_back(
      {*damaged->file, damaged->header.offset, "repeats of a chunk do not match their stretches"});
}

void RepeatedSteps::Show(Tick until) {
  while (!cursors_.empty() && cursors_.front().tick() <= until) {
    PatternRowCursor& cursor = cursors_.front();
    cursor.at_collapsed_step_span() ? CollapseOrOpen(cursor, until) : ShowEvent(cursor, until);
    if (!cursor.done()) continue;
    ReportDamage(cursor);
    cursors_.pop_front();
  }
}

void RepeatedSteps::ShowEvent(PatternRowCursor& cursor, Tick until) {
  const bool is_known =
      cursor.in_collapsed_step_span() && (group_.known() || cursor.collapsed_step_span().End(0) > until);
  if (cursor.at_group() && !is_known && group_.Begin(CountsNow()))
    context_.visitor().OnRepeatGroupBegin(context_.MakeEvent<RepeatGroupEvent>(ThreadId(), cursor.tick()));
  events_.Show(cursor);
  cursor.Advance();
}

// Collapses as many of the groups that end by `until` as the visitor allows (Visitor::MostRepeats). Opens the next
// group if no group can be collapsed.
void RepeatedSteps::CollapseOrOpen(PatternRowCursor& cursor, Tick until) {
  const CollapsedStepSpanCursor& span = cursor.collapsed_step_span();
  if (group_.open()) EndGroup(span);
  const std::size_t groups = GroupsUntil(span, until);
  if (!group_.known() || groups == 0) return cursor.OpenGroup();
  std::uint64_t most = groups;
  for (std::uint64_t asked = 0; most != 0 && most != asked;) {
    asked = most;
    most = std::min(asked, context_.visitor().MostRepeats(EventOf(span, static_cast<std::size_t>(asked))));
  }
  if (most == 0) {
    group_.Forget();
    return cursor.OpenGroup();
  }
  auto event = EventOf(span, static_cast<std::size_t>(most));
  Collapse(cursor, event);
}

void RepeatedSteps::EndGroup(const CollapsedStepSpanCursor& span) {
  auto end = context_.MakeEvent<RepeatGroupEvent>(ThreadId(), context_.now());
  end.ticks = span.TicksBefore();
  context_.visitor().OnRepeatGroupEnd(end);
  group_.End(CountsNow());
}

RepeatedEvent RepeatedSteps::EventOf(const CollapsedStepSpanCursor& span, std::size_t times) const {
  auto event = context_.MakeEvent<RepeatedEvent>(ThreadId(), span.End(times - 1));
  event.times = times;
  event.steps = times * span.period();
  event.first_step = span.FirstRow(0).step_number;
  event.last_step = span.LastNumber(times - 1);
  event.begin = span.FirstRow(0).first_tick;
  return event;
}

ReplayCounts RepeatedSteps::CountsNow() const {
  const ReplayReport& report = context_.report();
  return {blocks_.allocations(), report.unmatched_deallocations, report.replaced_blocks, report.late_events,
          matching_blocks_.step_counts()};
}

void RepeatedSteps::Collapse(PatternRowCursor& cursor, RepeatedEvent& event) {
  context_.AdvanceTo(event.tick);
  const ReplayCounts& change = group_.change();
  ReplayReport& report = context_.report();
  blocks_.AddCollapsed(event.times * change.allocations);
  report.unmatched_deallocations += event.times * change.unmatched_deallocations;
  report.replaced_blocks += event.times * change.replaced_blocks;
  report.late_events += event.times * change.late_events;
  matching_blocks_.AddCollapsed(change.repeated_steps, event.times);
  const std::vector<const Block*> moved = MoveBlocks(cursor, event.tick - cursor.collapsed_step_span().EndBefore());
  event.moved = moved;
  event.ticks = cursor.collapsed_step_span().Ticks(static_cast<std::size_t>(event.times));
  cursor.Collapse(static_cast<std::size_t>(event.times));
  context_.visitor().OnRepeated(event);
}

// Adds `ticks` to the ticks of the visited group's live blocks, because from now on they represent the blocks of the
// last collapsed group. Returns these live blocks.
std::vector<const Block*> RepeatedSteps::MoveBlocks(const PatternRowCursor& cursor, Tick ticks) {
  std::vector<const Block*> blocks;
  const auto move = [&](std::uint32_t device, std::uint64_t address) {
    const Block* const block = blocks_.Move(context_.ids().device(device), address, ticks);
    if (block != nullptr) blocks.push_back(block);
  };
  for (const CollapsedStepSpanCursor::ShownBlock& host : cursor.collapsed_step_span().LiveBlocks())
    move(host.device, host.shown);
  absl::flat_hash_set<std::pair<std::uint32_t, std::uint64_t>> moved;
  for (std::size_t step = 0; step < cursor.collapsed_step_span().period(); ++step) {
    for (const PatternEvent& event : cursor.collapsed_step_span().PatternOf(step).events) {
      const bool first = event.kind == v1::BLOCK_ALLOCATE && moved.emplace(event.device, event.address).second;
      if (first) move(event.device, event.address);
    }
  }
  return blocks;
}

}  // namespace memoir
