#include "tools/model/repeats/pattern_row_cursor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/numeric/int128.h"

namespace memoir {

PatternRowCursor::PatternRowCursor(JoinedPatternRows joined, bool collapses)
    : joined_(std::move(joined)), steps_(FindSteps(joined_)), row_addresses_(joined_, &addresses_) {
  if (collapses) finder_.emplace(steps_);
  if (joined_.damaged()) damaged_ = joined_.chunks().size() - 1;
  for (const JoinedPatternRows::ChunkRows& of : joined_.chunks()) {
    for (const v1::RepeatedRecords& records : of.chunk->payload->repeated_records)
      start_stacks_[records.thread()].push_back({of.first_row, records.start_stack()});
  }
  EnterRow();
}

void PatternRowCursor::TakeSteps() {
  rows_.clear();
  spans_.clear();
  addresses_.clear();
  at_ = memory_event_ = 0;
  for (; next_step_ < steps_.size(); ++next_step_) {
    const StepRows& step = steps_[next_step_];
    if (next_row_ == step.first_row && TakeCollapsedStepSpan()) continue;
    for (; next_row_ < step.end_row(); ++next_row_) {
      if (addresses_.size() > kMostAddresses && row_addresses_.TakeEndBefore(next_row_)) {
        if (finder_) finder_->BeginBehind(next_step_);
        return;
      }
      if (joined_.patterns()[next_row_] == nullptr) {
        row_addresses_.TakeAddressRow(next_row_);
      } else {
        row_addresses_.TakeRow(next_row_);
        rows_.push_back({next_row_});
      }
    }
    if (finder_) finder_->NoteStep(next_step_, row_addresses_);
  }
  if (const std::optional<std::size_t> misfit = row_addresses_.Finish()) damaged_ = misfit;
}

// If a span of collapsed groups begins with the next step, adds it to rows_ and spans_, and returns true.
bool PatternRowCursor::TakeCollapsedStepSpan() {
  std::optional<CollapsedStepSpan> span = finder_ ? finder_->FindSpan(next_step_, row_addresses_) : std::nullopt;
  if (!span) return false;
  const std::size_t rows_of_group = next_row_ - steps_[next_step_ - span->period].first_row;
  rows_[rows_.size() - rows_of_group].begins_group = true;
  rows_.push_back({next_row_, spans_.size()});
  next_step_ += span->period * span->groups - 1;
  next_row_ = steps_[next_step_].end_row();
  spans_.push_back(*std::move(span));
  return true;
}

std::optional<std::uint32_t> PatternRowCursor::TakeStartStack() {
  if (start_stacks_.empty()) return std::nullopt;
  const auto found = start_stacks_.find(event().thread);
  if (found == start_stacks_.end()) return std::nullopt;
  const auto behind = std::ranges::upper_bound(found->second, row(), {}, &StartStack::first_row);
  std::optional<std::uint32_t> stack;
  if (behind != found->second.begin()) stack = std::prev(behind)->stack;
  start_stacks_.erase(found);
  return stack;
}

bool PatternRowCursor::at_group() const {
  if (index_ != 0) return false;
  return span_cursor_ ? span_cursor_->opened() && span_cursor_->at_group() : rows_[at_].begins_group;
}

void PatternRowCursor::Collapse(std::size_t groups) {
  span_cursor_->Collapse(groups);
  EnterRow();
}

void PatternRowCursor::OpenGroup() {
  span_cursor_->Open();
  EnterEvent();
}

void PatternRowCursor::Advance() {
  if (!span_cursor_ && IsMemoryEvent(event())) ++memory_event_;
  if (++index_ < pattern_row().events) return EnterEvent();
  index_ = 0;
  span_cursor_ ? span_cursor_->NextRow() : static_cast<void>(++at_);
  EnterRow();
}

void PatternRowCursor::EnterRow() {
  if (span_cursor_ && span_cursor_->groups_left() == 0) {
    span_cursor_->AddRenames(renames_);
    span_cursor_.reset();
    ++at_;
  }
  while (at_ == rows_.size() && next_step_ < steps_.size()) TakeSteps();
  if (done()) return;
  if (!span_cursor_ && rows_[at_].span != kNoSpan)
    span_cursor_.emplace(spans_[rows_[at_].span], joined_.rows(), steps_, renames_);
  if (at_collapsed_step_span()) {
    tick_ = span_cursor_->FirstRow(0).first_tick;
  } else {
    EnterEvent();
  }
}

void PatternRowCursor::EnterEvent() {
  FindTick();
  const PatternEvent& here = event();
  if (!IsMemoryEvent(here)) return;
  if (span_cursor_) {
    address_ = span_cursor_->NextAddress(here, static_cast<std::uint32_t>(index()));
    return;
  }
  address_ = addresses_[memory_event_];
  if (renames_.empty() || here.of_host == 0 || here.kind == v1::ALLOCATE) return;
  const auto other = renames_.find(address_.address);
  if (other == renames_.end()) return;
  address_.address = other->second;
  renames_.erase(other);
}

// Sets the tick of the current event. The first and the last event of a row have recorded ticks. The events between
// them have ticks in the same proportions as in the pattern.
void PatternRowCursor::FindTick() {
  const PatternRow& row = pattern_row();
  const std::vector<PatternEvent>& events = joined_.patterns()[this->row()]->events;
  const std::uint64_t first = events[row.first_event].tick;
  const std::uint64_t whole = events[row.first_event + row.events - 1].tick - first;
  const std::uint64_t passed = event().tick - first;
  const bool is_last = index_ + 1 == row.events;
  const std::uint64_t part = whole == 0 ? 0 : static_cast<std::uint64_t>(absl::uint128(row.ticks) * passed / whole);
  tick_ = row.first_tick + (is_last ? row.ticks : part);
}

}  // namespace memoir
