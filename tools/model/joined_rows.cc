#include "tools/model/joined_rows.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 39;  // BlockOfRow has room for

}  // namespace

bool JoinedRows::Add(const std::shared_ptr<Chunk>& chunk, StretchTable& stretches) {
  const std::vector<RepeatRow>& rows = chunk->payload->repeats.rows;
  std::uint64_t first_step = 0;
  if (!chunks_.empty()) {
    if (rows.empty() || !GoesOn(rows.front())) return false;
    if (rows_.back().stretch == 0) {
      chunks_.back().living = rows_.back().events;
      rows_.pop_back();
      stretches_.pop_back();
    }
    first_step = rows_.back().step + (rows.front().first_event == 0 ? 1 : 0) - rows.front().step;
  }
  chunks_.push_back({chunk, rows_.size()});
  for (const RepeatRow& row : rows) {
    std::shared_ptr<const Stretch> stretch = row.stretch == 0 ? nullptr : stretches.Find(row.stretch);
    const bool fits = stretch != nullptr && row.first_event < stretch->events.size() &&
                      row.events <= stretch->events.size() - row.first_event && row.step + first_step < kMostSteps;
    damaged_ = row.stretch != 0 && !fits;
    if (damaged_) break;
    rows_.push_back(row);
    rows_.back().step += first_step;
    stretches_.push_back(std::move(stretch));
  }
  return true;
}

std::size_t JoinedRows::ChunkOf(std::size_t row) const {
  const auto behind = std::ranges::upper_bound(chunks_, row, {}, &OfChunk::first_row);
  return static_cast<std::size_t>(behind - chunks_.begin()) - 1;
}

// With the rest of a step, or the next one.
bool JoinedRows::GoesOn(const RepeatRow& row) const {
  if (damaged_ || rows_.empty() || row.stretch == 0) return false;
  const std::size_t address_rows = rows_.back().stretch == 0 ? 1 : 0;
  const std::size_t first = chunks_.back().first_row;
  if (rows_.size() - first <= address_rows) return false;
  const std::size_t last = rows_.size() - 1 - address_rows;
  const RepeatRow& before = rows_[last];
  if (before.stretch == 0 || row.first_tick < before.first_tick + before.ticks) return false;
  const std::size_t next = before.first_event + std::size_t{before.events};
  return row.first_event == (next == stretches_[last]->events.size() ? 0 : next);
}

std::vector<RowsOfStep> StepsOf(const JoinedRows& joined) {
  std::vector<RowsOfStep> steps;
  bool goes_on = false;
  std::uint32_t next = 0;  // event
  for (std::size_t i = 0; i < joined.rows().size(); ++i) {
    const RepeatRow& row = joined.rows()[i];
    const Stretch* const stretch = joined.stretches()[i].get();
    const bool begins = !goes_on || stretch == nullptr || row.step != steps.back().step || row.first_event != next;
    if (begins) steps.push_back({i, 0, row.step, nullptr});
    ++steps.back().rows;
    goes_on = stretch != nullptr;
    if (!goes_on) continue;
    next = row.first_event + row.events;
    const bool whole = joined.rows()[steps.back().first_row].first_event == 0 && next == stretch->events.size();
    steps.back().whole = whole ? stretch : nullptr;
  }
  return steps;
}

}  // namespace memoir
