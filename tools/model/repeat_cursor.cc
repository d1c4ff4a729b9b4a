#include "tools/model/repeat_cursor.h"

#include <utility>

#include "absl/numeric/int128.h"

namespace memoir {

RepeatCursor::RepeatCursor(std::shared_ptr<Chunk> chunk, StretchTable& stretches, bool skips)
    : chunk_(std::move(chunk)) {
  damaged_ = !FindStretches(stretches);
  TakeSteps(skips);
  for (const v1::RepeatedRecords& records : chunk_->payload->repeated_records)
    start_stacks_[records.thread()] = records.start_stack();
  EnterRow();
}

// Of the rows up to the first that fits none.
bool RepeatCursor::FindStretches(StretchTable& stretches) {
  for (const RepeatRow& row : rows_of_chunk()) {
    std::shared_ptr<const Stretch> stretch = row.stretch == 0 ? nullptr : stretches.Find(row.stretch);
    const bool fits = stretch != nullptr && row.first_event < stretch->events.size() &&
                      row.events <= stretch->events.size() - row.first_event;
    if (row.stretch != 0 && !fits) return false;
    stretches_.push_back(std::move(stretch));
  }
  return true;
}

void RepeatCursor::TakeSteps(bool skips) {
  const Repeats& repeats = chunk_->payload->repeats;
  RepeatPlaces places(repeats, stretches_, &placed_);
  steps_ = StepsOfRows(repeats, stretches_);
  std::optional<SkipFinder> finder;
  if (skips) finder.emplace(steps_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::optional<RepeatSkip> skip = finder ? finder->Find(i, places) : std::nullopt;
    if (skip) {
      const std::size_t rows_of_cycle = steps_[i].first_row - steps_[i - skip->period].first_row;
      rows_[rows_.size() - rows_of_cycle].begins_cycle = true;
      rows_.push_back({steps_[i].first_row, skips_.size()});
      i += skip->period * skip->cycles - 1;
      skips_.push_back(*std::move(skip));
      continue;
    }
    for (std::size_t row = steps_[i].first_row; row < steps_[i].first_row + steps_[i].rows; ++row) {
      if (stretches_[row] == nullptr) {
        places.TakeAddressRow(repeats.rows[row].events);
      } else {
        places.TakeRow(row);
        rows_.push_back({row});
      }
    }
    if (finder) finder->Note(i, places);
  }
  damaged_ = damaged_ || !places.fits();
}

std::optional<std::uint32_t> RepeatCursor::TakeStartStack() {
  if (start_stacks_.empty()) return std::nullopt;
  const auto found = start_stacks_.find(event().thread);
  if (found == start_stacks_.end()) return std::nullopt;
  const std::uint32_t stack = found->second;
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
  if (done()) return;
  if (!walk_ && rows_[at_].skip != kNoSkip)
    walk_.emplace(skips_[rows_[at_].skip], chunk_->payload->repeats, steps_, renamed_);
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
  const std::vector<StretchEvent>& events = stretches_[this->row()]->events;
  const std::uint64_t first = events[row.first_event].tick;
  const std::uint64_t whole = events[row.first_event + row.events - 1].tick - first;
  const std::uint64_t passed = event().tick - first;
  const bool is_last = index_ + 1 == row.events;
  const std::uint64_t part = whole == 0 ? 0 : static_cast<std::uint64_t>(absl::uint128(row.ticks) * passed / whole);
  tick_ = row.first_tick + (is_last ? row.ticks : part);
}

}  // namespace memoir
