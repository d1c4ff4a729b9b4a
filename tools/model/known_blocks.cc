#include "tools/model/known_blocks.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace memoir {
namespace {

// From a block to what is kept of it, and back to a block like it.
template <class From, class To>
void CopyWhatRan(const From& from, To& to) {
  to.operator_name = from.operator_name;
  to.leaf_name = from.leaf_name;
  to.user_name = from.user_name;
  to.region = from.region;
  to.forward_callstack = from.forward_callstack;
  to.module = from.module;
  to.phase = from.phase;
  to.in_compiled_region = from.in_compiled_region;
  to.compiling = from.compiling;
}

}  // namespace

bool RepeatsSteps(const v1::ProcessInfo& process) {
  return std::ranges::find(process.sources(), "known-steps") != process.sources().end();
}

void KnownBlocks::Begin(bool follows) {
  *this = KnownBlocks();
  follows_ = follows;
  full_ = true;
}

void KnownBlocks::StepBegins(ThreadId thread) {
  if (!follows_) return;
  thread_ = thread;
  learns_ = full_;
  ++found_.steps;
  found_.full_steps += full_ ? 1 : 0;
}

// The recorder switches down behind the mark of a step that is known, and up before that of one that is not.
void KnownBlocks::Switch(v1::RecordingLevel level) {
  if (!follows_) return;
  const bool full = level == v1::LEVEL_ALL;
  if (!full && learns_) --found_.full_steps;
  learns_ = learns_ && full;
  full_ = full;
  if (level == v1::LEVEL_OFF) Lose();
}

void KnownBlocks::Lose() {
  if (learns_) --found_.full_steps;
  learns_ = false;
  constexpr std::uint64_t kNowhere = 0x9e3779b97f4a7c15u;
  for (Sequence& sequence : sequences_) sequence = {kNowhere, found_.steps};
}

KnownBlocks::Sequence& KnownBlocks::SequenceOf(DeviceId device) {
  if (device.value >= sequences_.size()) sequences_.resize(device.value + 1);
  return sequences_[device.value];
}

void KnownBlocks::Follow(std::uint64_t ordinal, bool caching, Block& block) {
  if (!follows_ || !block.device.valid()) return;
  const bool has_place = caching || (block.thread == thread_ && thread_.valid());
  std::uint64_t place = 0;
  if (has_place) {
    Sequence& sequence = SequenceOf(block.device);
    if (sequence.step != found_.steps) sequence = {0, found_.steps};
    const std::uint64_t asked = caching ? block.requested_bytes : block.bytes;
    place = sequence.place = absl::HashOf(sequence.place, block.device.value, asked, block.stream);
  }
  const std::uint64_t here = has_place ? absl::HashOf(place, block.callstack.value) : 0;
  if (learns_ && has_place && !block.unseen) Learn(here, ordinal, block);
  if (!full_ || block.unseen) Infer(here, block);
}

// What becomes of a block shows in the step behind its own. Where steps in full are few, that is one of them for the
// second alone: the first may begin what the others go on with, and behind the last comes one without operators.
void KnownBlocks::Learn(std::uint64_t place, std::uint64_t ordinal, const Block& block) {
  Counterpart& known = known_[place];
  constexpr std::uint8_t kTaken = 2;
  if (known.seen == kTaken) return;
  if (known.seen != 0) places_.erase(known.ordinal);
  places_[ordinal] = place;
  ++known.seen;
  known.ordinal = ordinal;
  CopyWhatRan(block, known);
}

bool KnownBlocks::Ends(const Block& block, bool temporary) {
  if (!follows_) return temporary;
  const auto place = places_.find(block.inferred() ? block.counterpart : block.ordinal);
  if (place == places_.end()) return temporary;
  Counterpart& known = known_[place->second];
  if (block.inferred()) return known.temporary;
  known.temporary = temporary;
  return temporary;
}

void KnownBlocks::Infer(std::uint64_t place, Block& block) {
  const auto found = known_.find(place);
  if (found == known_.end()) {
    ++found_.unknown_blocks;
    found_.unknown_bytes += block.bytes;
    return;
  }
  const Counterpart& known = found->second;
  const NameId own_user_name = block.user_name;
  CopyWhatRan(known, block);
  if (own_user_name.valid()) block.user_name = own_user_name;
  block.counterpart = known.ordinal;
  ++found_.inferred_blocks;
  found_.inferred_bytes += block.bytes;
}

}  // namespace memoir
