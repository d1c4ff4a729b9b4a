#include "tools/model/repeat_cursor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/numeric/int128.h"

namespace memoir {

RepeatCursor::RepeatCursor(JoinedRows joined, bool skips)
    : joined_(std::move(joined)), steps_(StepsOf(joined_)), places_(joined_, &placed_) {
  if (skips) finder_.emplace(steps_);
  if (joined_.damaged()) damaged_ = joined_.chunks().size() - 1;
  for (const JoinedRows::OfChunk& of : joined_.chunks()) {
    for (const v1::RepeatedRecords& records : of.chunk->payload->repeated_records)
      start_stacks_[records.thread()].push_back({of.first_row, records.start_stack()});
  }
  EnterRow();
}

void RepeatCursor::TakeSteps() {
  rows_.clear();
  skips_.clear();
  placed_.clear();
  at_ = memory_event_ = 0;
  for (; next_step_ < steps_.size(); ++next_step_) {
    const RowsOfStep& step = steps_[next_step_];
    if (next_row_ == step.first_row && TakeSkip()) continue;
    for (; next_row_ < step.end_row(); ++next_row_) {
      if (placed_.size() > kMostPlaced && places_.TakeEndBefore(next_row_)) {
        if (finder_) finder_->BeginBehind(next_step_);
        return;
      }
      if (joined_.stretches()[next_row_] == nullptr) {
        places_.TakeAddressRow(next_row_);
      } else {
        places_.TakeRow(next_row_);
        rows_.push_back({next_row_});
      }
    }
    if (finder_) finder_->Note(next_step_, places_);
  }
  if (const std::optional<std::size_t> misfit = places_.Finish()) damaged_ = misfit;
}

// That begins with the next step.
bool RepeatCursor::TakeSkip() {
  std::optional<RepeatSkip> skip = finder_ ? finder_->Find(next_step_, places_) : std::nullopt;
  if (!skip) return false;
  const std::size_t rows_of_cycle = next_row_ - steps_[next_step_ - skip->period].first_row;
  rows_[rows_.size() - rows_of_cycle].begins_cycle = true;
  rows_.push_back({next_row_, skips_.size()});
  next_step_ += skip->period * skip->cycles - 1;
  next_row_ = steps_[next_step_].end_row();
  skips_.push_back(*std::move(skip));
  return true;
}

std::optional<std::uint32_t> RepeatCursor::TakeStartStack() {
  if (start_stacks_.empty()) return std::nullopt;
  const auto found = start_stacks_.find(event().thread);
  if (found == start_stacks_.end()) return std::nullopt;
  const auto behind = std::ranges::upper_bound(found->second, row(), {}, &StartStack::first_row);
  std::optional<std::uint32_t> stack;
  if (behind != found->second.begin()) stack = std::prev(behind)->stack;
  start_stacks_.erase(found);
  return stack;
}

bool RepeatCursor::at_cycle() const {
  if (index_ != 0) return false;
  return walk_ ? walk_->opened() && walk_->at_cycle() : rows_[at_].begins_cycle;
}

void RepeatCursor::Pass(std::size_t cycles) {
  walk_->Pass(cycles);
  EnterRow();
}

void RepeatCursor::OpenCycle() {
  walk_->Open();
  EnterEvent();
}

void RepeatCursor::Advance() {
  if (!walk_ && IsOfMemory(event())) ++memory_event_;
  if (++index_ < of_row().events) return EnterEvent();
  index_ = 0;
  walk_ ? walk_->NextRow() : static_cast<void>(++at_);
  EnterRow();
}

void RepeatCursor::EnterRow() {
  if (walk_ && walk_->cycles_left() == 0) {
    walk_->Rename(renamed_);
    walk_.reset();
    ++at_;
  }
  while (at_ == rows_.size() && next_step_ < steps_.size()) TakeSteps();
  if (done()) return;
  if (!walk_ && rows_[at_].skip != kNoSkip) walk_.emplace(skips_[rows_[at_].skip], joined_.rows(), steps_, renamed_);
  if (at_skip()) {
    tick_ = walk_->FirstRow(0).first_tick;
  } else {
    EnterEvent();
  }
}

void RepeatCursor::EnterEvent() {
  FindTick();
  const StretchEvent& here = event();
  if (!IsOfMemory(here)) return;
  if (walk_) {
    place_ = walk_->Place(here, static_cast<std::uint32_t>(index()));
    return;
  }
  place_ = placed_[memory_event_];
  if (renamed_.empty() || here.of_host == 0 || here.kind == v1::ALLOCATE) return;
  const auto other = renamed_.find(place_.address);
  if (other == renamed_.end()) return;
  place_.address = other->second;
  renamed_.erase(other);
}

// Between its first and its last event a row goes on as its stretch did.
void RepeatCursor::FindTick() {
  const RepeatRow& row = of_row();
  const std::vector<StretchEvent>& events = joined_.stretches()[this->row()]->events;
  const std::uint64_t first = events[row.first_event].tick;
  const std::uint64_t whole = events[row.first_event + row.events - 1].tick - first;
  const std::uint64_t passed = event().tick - first;
  const bool is_last = index_ + 1 == row.events;
  const std::uint64_t part = whole == 0 ? 0 : static_cast<std::uint64_t>(absl::uint128(row.ticks) * passed / whole);
  tick_ = row.first_tick + (is_last ? row.ticks : part);
}

}  // namespace memoir
