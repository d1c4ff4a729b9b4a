#include "tracker/writer/step_repeats.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kMostSeenOnce = 1024;
constexpr std::size_t kMostEventsInAll = 4 * kMostStretchEvents;
// A block that lives longer is freed at an address.
constexpr std::uint64_t kMostStepsBack = 1u << 16;

bool IsOfCachingAllocator(const RepeatableEvent& event) {
  return event.kind == EventKind::kBlockAllocate || event.kind == EventKind::kDeallocateCompleted ||
         (event.kind == EventKind::kDeallocate && event.of_host == kOfDevice);
}
bool AllocatesOnHost(const RepeatableEvent& event) { return event.kind == EventKind::kAllocate; }
bool FreesOnHost(const RepeatableEvent& event) {
  return event.kind == EventKind::kDeallocate && event.of_host != kOfDevice;
}

}  // namespace

void StepRepeats::StepBegins(std::uint32_t thread) {
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
  // What came after the one before the last time; else what came last.
  const KnownStretch* before = Find(last_stretch_);
  followed_ = before == nullptr ? nullptr : Find(before->follower);
  if (followed_ != nullptr || stretches_.empty()) return;
  followed_ = &*std::ranges::max_element(stretches_, {}, &KnownStretch::used);
}

bool StepRepeats::Add(RepeatableEvent event, const Facts& facts) {
  if (IsOfCachingAllocator(event)) device_threads_.insert(event.thread);
  const Place place{event.device, facts.host_address};
  const bool was_in_row = FreesOnHost(event) && ResolveFree(place, &event);
  if (AllocatesOnHost(event)) {
    // What lived there has gone unseen: readers learn of it before this block comes.
    const auto before = host_blocks_.find(place);
    if (before != host_blocks_.end() && before->second.in_row) GiveAddresses();
  }
  if (!can_repeat_ || !IsOfStep(event)) {
    if (was_in_row) LeaveStep();  // a thread beside the step frees what only its rows know
    NoteBlock(event, facts, false);
    EndRow();
    return false;
  }
  const bool in_row = Follow(event);
  if (in_row) {
    AddToRow(event, facts, was_in_row);
  } else {
    LeaveStretch();
  }
  NoteBlock(event, facts, in_row);
  if (!in_row) events_.push_back(event);
  ticks_.push_back(facts.tick);
  if (++position_ > kMostStretchEvents) LeaveStep();
  return in_row;
}

// Says which event has allocated the block; returns whether that is in a row, and its address not given yet.
bool StepRepeats::ResolveFree(const Place& place, RepeatableEvent* event) const {
  const auto freed = host_blocks_.find(place);
  if (freed == host_blocks_.end()) return false;
  const HostBlock& block = freed->second;
  if (step_ - block.step < kMostStepsBack) {
    event->of_host = kAllocatedInStep + static_cast<std::uint32_t>(step_ - block.step);
    event->freed_event = block.event;
  }
  return block.in_row;
}

// Whether a stretch has this event next. Once none had, the rest of the step is in runs. Takes it into the hash, which
// until here is that of the stretch that is followed: the same event has the same one there.
bool StepRepeats::Follow(const RepeatableEvent& event) {
  const auto has_next = [&](const KnownStretch& stretch) {
    return position_ < stretch.events.size() && stretch.events[position_] == event;
  };
  const bool has_room = !AllocatesOnHost(event) || host_blocks_.size() < kMostHostBlocks;
  if (followed_ != nullptr && has_room && has_next(*followed_)) {
    hash_ = followed_->hashes[position_];
    return true;
  }
  hash_ = HashOfEvents(hash_, event);
  if (followed_ == nullptr || !has_room) return false;
  const auto other = std::ranges::find_if(
      stretches_, [&](const KnownStretch& stretch) { return has_next(stretch) && stretch.hashes[position_] == hash_; });
  if (other == stretches_.end()) return false;
  followed_ = &*other;
  return true;
}

void StepRepeats::AddToRow(const RepeatableEvent& event, const Facts& facts, bool was_in_row) {
  const bool has_serial = IsOfCachingAllocator(event);
  if (has_serial && !rows_.FitsSerial(event.device, facts.serial)) rows_.CloseRow();
  rows_.Add(followed_->id, position_, step_, facts.tick);
  if (has_serial) rows_.PutSerial(event.device, facts.serial);
  if (event.kind == EventKind::kStep) rows_.SetStepNumber(facts.step_number);
  if (!FreesOnHost(event) || was_in_row) return;
  rows_.PutAddress(facts.host_address);
  rows_.CloseRow();  // another thread may allocate there at once: the tick of the free is to be exact
}

void StepRepeats::NoteBlock(const RepeatableEvent& event, const Facts& facts, bool in_row) {
  const Place place{event.device, facts.host_address};
  if (FreesOnHost(event)) host_blocks_.erase(place);
  if (!AllocatesOnHost(event)) return;
  if (!can_repeat_ || !IsOfStep(event) || host_blocks_.size() >= kMostHostBlocks) {
    host_blocks_.erase(place);
    return;
  }
  host_blocks_[place] = {step_, facts.serial, position_, in_row};
  if (!in_row) return;
  if (in_rows_.size() >= look_again_at_) {
    std::erase_if(in_rows_, [this](const Allocated& block) { return !LivesInRow(block); });
    look_again_at_ = std::max<std::size_t>(1u << 16, 2 * in_rows_.size());
  }
  in_rows_.push_back({place, step_, position_});
}

// The step goes on in runs, and may be a stretch of its own.
void StepRepeats::LeaveStretch() {
  if (followed_ == nullptr) return;
  GiveAddresses();
  events_.assign(followed_->events.begin(), followed_->events.begin() + position_);
  followed_ = nullptr;
}

void StepRepeats::LeaveStep() {
  GiveAddresses();
  followed_ = nullptr;
  can_repeat_ = false;
  events_.clear();
  ticks_.clear();
  if (!host_blocks_.empty()) host_blocks_.clear();
}

void StepRepeats::EndStep() {
  rows_.CloseRow();
  KnownStretch* stretch = nullptr;
  if (can_repeat_ && position_ > 0) {
    const auto same = [this](const KnownStretch& known) {
      return known.hashes.size() == position_ && known.hashes.back() == hash_;
    };
    const auto known = std::ranges::find_if(stretches_, same);
    if (known != stretches_.end()) {
      stretch = &*known;
      stretch->used = step_;
    } else {
      if (followed_ != nullptr) events_.assign(followed_->events.begin(), followed_->events.begin() + position_);
      Learn();
    }
  }
  if (KnownStretch* before = Find(last_stretch_); before != nullptr)
    before->follower = stretch == nullptr ? 0 : stretch->id;
  last_stretch_ = stretch == nullptr ? 0 : stretch->id;
}

void StepRepeats::Learn() {
  if (seen_once_.size() >= kMostSeenOnce) seen_once_.clear();
  if (seen_once_.insert(hash_).second) return;
  seen_once_.erase(hash_);
  const auto events_in_all = [this] {
    std::size_t events = events_.size();
    for (const KnownStretch& stretch : stretches_) events += stretch.events.size();
    return events;
  };
  while (!stretches_.empty() && (stretches_.size() >= kMostStretches || events_in_all() > kMostEventsInAll)) {
    stretches_.erase(std::ranges::min_element(stretches_, {}, &KnownStretch::used));
  }
  KnownStretch& stretch = stretches_.emplace_back();
  stretch.id = ++last_id_;
  stretch.used = step_;
  stretch.events = std::move(events_);
  stretch.ticks = std::move(ticks_);
  std::uint64_t hash = 0, latest = stretch.ticks.front();
  const std::uint64_t first = latest;
  for (const RepeatableEvent& event : stretch.events) stretch.hashes.push_back(hash = HashOfEvents(hash, event));
  for (std::uint64_t& tick : stretch.ticks) tick = (latest = std::max(latest, tick)) - first;
}

bool StepRepeats::LivesInRow(const Allocated& block) const {
  const auto known = host_blocks_.find(block.place);
  return known != host_blocks_.end() && known->second.in_row && known->second.step == block.step &&
         known->second.event == block.event;
}

void StepRepeats::GiveAddresses() {
  rows_.CloseRow();
  std::uint32_t addresses = 0;
  for (const Allocated& block : in_rows_) {
    if (!LivesInRow(block)) continue;
    HostBlock& known = host_blocks_[block.place];
    known.in_row = false;
    rows_.PutLiving(block.place.address, known.serial);
    ++addresses;
  }
  in_rows_.clear();
  if (addresses > 0) rows_.AddAddressRow(addresses);
}

KnownStretch* StepRepeats::ToDefine(std::uint32_t part) {
  return followed_ == nullptr || followed_->part == part ? nullptr : followed_;
}

void StepRepeats::ForgetWithout(const std::function<bool(std::uint32_t)>& knows_stack) {
  const auto is_known = [&](const RepeatableEvent& event) { return event.stack == 0 || knows_stack(event.stack); };
  for (auto stretch = stretches_.begin(); stretch != stretches_.end();) {
    if (std::ranges::all_of(stretch->events, is_known)) {
      ++stretch;
      continue;
    }
    if (followed_ == &*stretch) LeaveStep();
    stretch = stretches_.erase(stretch);
  }
}

KnownStretch* StepRepeats::Find(std::uint32_t id) {
  const auto found = std::ranges::find(stretches_, id, &KnownStretch::id);
  return id == 0 || found == stretches_.end() ? nullptr : &*found;
}

}  // namespace memoir
