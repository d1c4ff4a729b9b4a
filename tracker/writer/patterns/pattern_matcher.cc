#include "tracker/writer/patterns/pattern_matcher.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kMostSeenOnce = 1024;
constexpr std::size_t kMostEventsInAll = 4 * kMostPatternEvents;
// Number of steps. If a block is freed this many steps after its allocation, or later, its address is written for the
// free.
constexpr std::uint64_t kMostStepsBack = 1u << 16;

bool IsOfCachingAllocator(const PatternEvent& event) {
  return event.kind == EventKind::kBlockAllocate || event.kind == EventKind::kDeallocateCompleted ||
         (event.kind == EventKind::kDeallocate && event.of_host == kOfDevice);
}
bool AllocatesOnHost(const PatternEvent& event) { return event.kind == EventKind::kAllocate; }
bool FreesOnHost(const PatternEvent& event) {
  return event.kind == EventKind::kDeallocate && event.of_host != kOfDevice;
}

}  // namespace

void PatternMatcher::BeginStep(std::uint32_t thread) {
  EndStep();
  ++step_;
  step_thread_ = thread;
  can_repeat_ = true;
  hash_ = 0;
  position_ = 0;
  events_.clear();
  ticks_.clear();
  if (host_blocks_.size() >= kMostHostBlocks)
    std::erase_if(host_blocks_, [](const auto& block) { return !block.second.in_row; });
  if (device_threads_.size() > kMostDeviceThreads) device_threads_.clear();
  // Chooses the pattern to follow: the pattern that followed the previous step's pattern the last time; otherwise the
  // most recently used pattern.
  const StepPattern* before = FindPattern(last_pattern_);
  followed_ = before == nullptr ? nullptr : FindPattern(before->follower);
  if (followed_ != nullptr || patterns_.empty()) return;
  followed_ = &*std::ranges::max_element(patterns_, {}, &StepPattern::used);
}

bool PatternMatcher::Add(PatternEvent event, const Facts& facts) {
  if (IsOfCachingAllocator(event)) device_threads_.insert(event.thread);
  const HostAddress place{event.device, facts.host_address};
  const bool was_in_row = FreesOnHost(event) && ResolveFree(place, &event);
  if (AllocatesOnHost(event)) {
    // If an earlier block is still known at this address, its free was not seen. If the earlier block's address is not
    // written yet, an address row with this address must precede the allocation of this block.
    const auto before = host_blocks_.find(place);
    if (before != host_blocks_.end() && before->second.in_row) AddAddressRow();
  }
  if (!can_repeat_ || !BelongsToStep(event)) {
    if (was_in_row) LeaveStep();  // writes the block's address, because a run refers to the block by its address
    NoteBlock(event, facts, false);
    EndRow();
    return false;
  }
  const bool in_row = Follow(event);
  if (in_row) {
    AddToRow(event, facts, was_in_row);
  } else {
    LeavePattern();
  }
  NoteBlock(event, facts, in_row);
  if (!in_row) events_.push_back(event);
  ticks_.push_back(facts.tick);
  if (++position_ > kMostPatternEvents) LeaveStep();
  return in_row;
}

// Finds the event that allocated the freed block, and makes `event` refer to it. Returns true if the allocation is in a
// pattern row and the block's address is not written yet.
bool PatternMatcher::ResolveFree(const HostAddress& place, PatternEvent* event) const {
  const auto freed = host_blocks_.find(place);
  if (freed == host_blocks_.end()) return false;
  const HostBlock& block = freed->second;
  if (step_ - block.step < kMostStepsBack) {
    event->of_host = kAllocatedInStep + static_cast<std::uint32_t>(step_ - block.step);
    event->freed_event = block.event;
  }
  return block.in_row;
}

// Returns true if `event` is the next event of a pattern. After the first event for which this is false, the rest of
// the step goes into runs. Also adds the event to hash_.
bool PatternMatcher::Follow(const PatternEvent& event) {
  const auto has_next = [&](const StepPattern& pattern) {
    return position_ < pattern.events.size() && pattern.events[position_] == event;
  };
  const bool has_room = !AllocatesOnHost(event) || host_blocks_.size() < kMostHostBlocks;
  if (followed_ != nullptr && has_room && has_next(*followed_)) {
    hash_ = followed_->hashes[position_];
    return true;
  }
  hash_ = HashOfEvents(hash_, event);
  if (followed_ == nullptr || !has_room) return false;
  const auto other = std::ranges::find_if(
      patterns_, [&](const StepPattern& pattern) { return has_next(pattern) && pattern.hashes[position_] == hash_; });
  if (other == patterns_.end()) return false;
  followed_ = &*other;
  return true;
}

void PatternMatcher::AddToRow(const PatternEvent& event, const Facts& facts, bool was_in_row) {
  const bool has_serial = IsOfCachingAllocator(event);
  if (has_serial && !rows_.FitsSerial(event.device, facts.serial)) rows_.CloseRow();
  rows_.Add(followed_->id, position_, step_, facts.tick);
  if (has_serial) rows_.PutSerial(event.device, facts.serial);
  if (event.kind == EventKind::kStep) rows_.SetStepNumber(facts.step_number);
  if (!FreesOnHost(event) || was_in_row) return;
  rows_.PutAddress(facts.host_address);
  rows_.CloseRow();  // another thread may allocate at this address at once, so the tick of the free must be exact
}

void PatternMatcher::NoteBlock(const PatternEvent& event, const Facts& facts, bool in_row) {
  const HostAddress place{event.device, facts.host_address};
  if (FreesOnHost(event)) host_blocks_.erase(place);
  if (!AllocatesOnHost(event)) return;
  if (!can_repeat_ || !BelongsToStep(event) || host_blocks_.size() >= kMostHostBlocks) {
    host_blocks_.erase(place);
    return;
  }
  host_blocks_[place] = {step_, facts.serial, position_, in_row};
  if (!in_row) return;
  if (in_rows_.size() >= next_cleanup_size_) {
    std::erase_if(in_rows_, [this](const RowBlock& block) { return !IsLiveInRow(block); });
    next_cleanup_size_ = std::max<std::size_t>(1u << 16, 2 * in_rows_.size());
  }
  in_rows_.push_back({place, step_, position_});
}

// Stops following the pattern. The step continues in runs, and may become another pattern.
void PatternMatcher::LeavePattern() {
  if (followed_ == nullptr) return;
  AddAddressRow();
  events_.assign(followed_->events.begin(), followed_->events.begin() + position_);
  followed_ = nullptr;
}

void PatternMatcher::LeaveStep() {
  AddAddressRow();
  followed_ = nullptr;
  can_repeat_ = false;
  events_.clear();
  ticks_.clear();
  if (!host_blocks_.empty()) host_blocks_.clear();
}

void PatternMatcher::EndStep() {
  rows_.CloseRow();
  StepPattern* pattern = nullptr;
  if (can_repeat_ && position_ > 0) {
    const auto same = [this](const StepPattern& known) {
      return known.hashes.size() == position_ && known.hashes.back() == hash_;
    };
    const auto known = std::ranges::find_if(patterns_, same);
    if (known != patterns_.end()) {
      pattern = &*known;
      pattern->used = step_;
    } else {
      if (followed_ != nullptr) events_.assign(followed_->events.begin(), followed_->events.begin() + position_);
      LearnPattern();
    }
  }
  if (StepPattern* before = FindPattern(last_pattern_); before != nullptr)
    before->follower = pattern == nullptr ? 0 : pattern->id;
  last_pattern_ = pattern == nullptr ? 0 : pattern->id;
}

void PatternMatcher::LearnPattern() {
  if (seen_once_.size() >= kMostSeenOnce) seen_once_.clear();
  if (seen_once_.insert(hash_).second) return;
  seen_once_.erase(hash_);
  const auto events_in_all = [this] {
    std::size_t events = events_.size();
    for (const StepPattern& pattern : patterns_) events += pattern.events.size();
    return events;
  };
  while (!patterns_.empty() && (patterns_.size() >= kMostPatterns || events_in_all() > kMostEventsInAll)) {
    patterns_.erase(std::ranges::min_element(patterns_, {}, &StepPattern::used));
  }
  StepPattern& pattern = patterns_.emplace_back();
  pattern.id = ++last_id_;
  pattern.used = step_;
  pattern.events = std::move(events_);
  pattern.ticks = std::move(ticks_);
  std::uint64_t hash = 0, latest = pattern.ticks.front();
  const std::uint64_t first = latest;
  for (const PatternEvent& event : pattern.events) pattern.hashes.push_back(hash = HashOfEvents(hash, event));
  for (std::uint64_t& tick : pattern.ticks) tick = (latest = std::max(latest, tick)) - first;
}

bool PatternMatcher::IsLiveInRow(const RowBlock& block) const {
  const auto known = host_blocks_.find(block.place);
  return known != host_blocks_.end() && known->second.in_row && known->second.step == block.step &&
         known->second.event == block.event;
}

void PatternMatcher::AddAddressRow() {
  rows_.CloseRow();
  std::uint32_t addresses = 0;
  for (const RowBlock& block : in_rows_) {
    if (!IsLiveInRow(block)) continue;
    HostBlock& known = host_blocks_[block.place];
    known.in_row = false;
    rows_.PutLiveBlock(block.place.address, known.serial);
    ++addresses;
  }
  in_rows_.clear();
  if (addresses > 0) rows_.AddAddressRow(addresses);
}

StepPattern* PatternMatcher::UndefinedPattern(std::uint32_t part) {
  return followed_ == nullptr || followed_->part == part ? nullptr : followed_;
}

void PatternMatcher::ForgetPatternsWithout(const std::function<bool(std::uint32_t)>& knows_stack) {
  const auto is_known = [&](const PatternEvent& event) { return event.stack == 0 || knows_stack(event.stack); };
  for (auto pattern = patterns_.begin(); pattern != patterns_.end();) {
    if (std::ranges::all_of(pattern->events, is_known)) {
      ++pattern;
      continue;
    }
    if (followed_ == &*pattern) LeaveStep();
    pattern = patterns_.erase(pattern);
  }
}

StepPattern* PatternMatcher::FindPattern(std::uint32_t id) {
  const auto found = std::ranges::find(patterns_, id, &StepPattern::id);
  return id == 0 || found == patterns_.end() ? nullptr : &*found;
}

}  // namespace memoir
