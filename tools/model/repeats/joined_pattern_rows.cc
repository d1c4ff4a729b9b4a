#include "tools/model/repeats/joined_pattern_rows.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 39;  // RowBlockId has 39 bits for a step

}  // namespace

bool JoinedPatternRows::Add(const std::shared_ptr<Chunk>& chunk, StepPatternTable& patterns) {
  const std::vector<PatternRow>& rows = chunk->payload->pattern_rows.rows;
  std::uint64_t first_step = 0;
  if (!chunks_.empty()) {
    if (rows.empty() || !Continues(rows.front())) return false;
    if (rows_.back().pattern == 0) {
      chunks_.back().live_blocks = rows_.back().events;
      rows_.pop_back();
      patterns_.pop_back();
    }
    first_step = rows_.back().step + (rows.front().first_event == 0 ? 1 : 0) - rows.front().step;
  }
  chunks_.push_back({chunk, rows_.size()});
  for (const PatternRow& row : rows) {
    std::shared_ptr<const StepPattern> pattern = row.pattern == 0 ? nullptr : patterns.Find(row.pattern);
    const bool fits = pattern != nullptr && row.first_event < pattern->events.size() &&
                      row.events <= pattern->events.size() - row.first_event && row.step + first_step < kMostSteps;
    damaged_ = row.pattern != 0 && !fits;
    if (damaged_) break;
    rows_.push_back(row);
    rows_.back().step += first_step;
    patterns_.push_back(std::move(pattern));
  }
  return true;
}

std::size_t JoinedPatternRows::ChunkOf(std::size_t row) const {
  const auto behind = std::ranges::upper_bound(chunks_, row, {}, &ChunkRows::first_row);
  return static_cast<std::size_t>(behind - chunks_.begin()) - 1;
}

// Returns true if `row` continues the last step, or begins the next step.
bool JoinedPatternRows::Continues(const PatternRow& row) const {
  if (damaged_ || rows_.empty() || row.pattern == 0) return false;
  const std::size_t address_rows = rows_.back().pattern == 0 ? 1 : 0;
  const std::size_t first = chunks_.back().first_row;
  if (rows_.size() - first <= address_rows) return false;
  const std::size_t last = rows_.size() - 1 - address_rows;
  const PatternRow& before = rows_[last];
  if (before.pattern == 0 || row.first_tick < before.first_tick + before.ticks) return false;
  const std::size_t next = before.first_event + std::size_t{before.events};
  return row.first_event == (next == patterns_[last]->events.size() ? 0 : next);
}

std::vector<StepRows> FindSteps(const JoinedPatternRows& joined) {
  std::vector<StepRows> steps;
  bool goes_on = false;
  std::uint32_t next = 0;  // index of the next event in the pattern
  for (std::size_t i = 0; i < joined.rows().size(); ++i) {
    const PatternRow& row = joined.rows()[i];
    const StepPattern* const pattern = joined.patterns()[i].get();
    const bool begins = !goes_on || pattern == nullptr || row.step != steps.back().step || row.first_event != next;
    if (begins) steps.push_back({i, 0, row.step, nullptr});
    ++steps.back().rows;
    goes_on = pattern != nullptr;
    if (!goes_on) continue;
    next = row.first_event + row.events;
    const bool whole = joined.rows()[steps.back().first_row].first_event == 0 && next == pattern->events.size();
    steps.back().whole = whole ? pattern : nullptr;
  }
  return steps;
}

}  // namespace memoir
