#include "tools/model/repeats/matching_blocks.h"

#include "absl/hash/hash.h"

namespace memoir {
namespace {

// Copies the fields that are inferred, from a block to its MatchingBlock or back.
template <class From, class To>
void CopyOperatorFields(const From& from, To& to) {
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

// Returns true if two matching blocks have the same operators and module. The names of user ranges are not compared,
// because they may change from step to step.
template <class Match>
bool HaveSameOrigin(const Match& a, const Match& b) {
  return a.operator_name == b.operator_name && a.leaf_name == b.leaf_name && a.region == b.region &&
         a.forward_callstack == b.forward_callstack && a.module == b.module && a.phase == b.phase &&
         a.in_compiled_region == b.in_compiled_region && a.compiling == b.compiling;
}

}  // namespace

void MatchingBlocks::Begin(bool follows) {
  *this = MatchingBlocks();
  follows_ = follows;
  full_ = true;
}

void MatchingBlocks::BeginStep(ThreadId thread) {
  if (!follows_) return;
  thread_ = thread;
  learns_ = full_;
  ++step_counts_.steps;
  step_counts_.full_steps += full_ ? 1 : 0;
}

// The recorder switches operators off after the mark that begins a repeated step. BeginStep has then counted this step
// as full, so this function subtracts it. The recorder switches operators on again before the mark that begins a step
// which is not repeated.
void MatchingBlocks::SwitchLevel(v1::RecordingLevel level) {
  if (!follows_) return;
  const bool full = level == v1::LEVEL_ALL;
  if (!full && learns_) --step_counts_.full_steps;
  learns_ = learns_ && full;
  full_ = full;
  if (level == v1::LEVEL_OFF) LeaveOutStep();
}

void MatchingBlocks::LeaveOutStep() {
  if (learns_) --step_counts_.full_steps;
  learns_ = false;
  // A position that no allocation has. Later positions of this step follow from it, so they occur in no other step.
  constexpr std::uint64_t kNowhere = 0x9e3779b97f4a7c15u;
  for (DevicePosition& device_position : device_positions_) device_position = {kNowhere, step_counts_.steps};
}

MatchingBlocks::DevicePosition& MatchingBlocks::PositionOf(DeviceId device) {
  if (device.value >= device_positions_.size()) device_positions_.resize(device.value + 1);
  return device_positions_[device.value];
}

MatchingBlocks::Positions MatchingBlocks::PositionsOf(bool caching, const Block& block) {
  const bool has_place = caching || (block.thread == thread_ && thread_.valid());
  if (!has_place) return {};
  DevicePosition& device_position = PositionOf(block.device);
  if (device_position.step != step_counts_.steps) device_position = {0, step_counts_.steps};
  const std::uint64_t before = device_position.position;
  const std::uint64_t asked = caching ? block.requested_bytes : block.bytes;
  device_position.position = absl::HashOf(before, block.device.value, asked, block.stream);
  Positions positions = {.exact = absl::HashOf(device_position.position, block.callstack.value)};
  // Without a stack, a block of another size cannot be matched reliably.
  if (block.callstack.valid())
    positions.of_any_size = absl::HashOf(before, block.device.value, block.stream, block.callstack.value);
  return positions;
}

void MatchingBlocks::VisitBlock(std::uint64_t ordinal, bool caching, Block& block) {
  if (!follows_ || !block.device.valid()) return;
  const Positions positions = PositionsOf(caching, block);
  if (learns_ && positions.exact != 0 && !block.unseen) Learn(positions, ordinal, block);
  if (!full_ || block.unseen) Infer(positions, block);
}

// Stores `block` as the matching block of its position. A block of the second full step with this position replaces the
// block of the first. Later full steps change nothing. The first full step is worse than the second, because it may
// begin work that later steps continue. The last full step is also worse: operators of the next step, which are not
// recorded, may still use its blocks.
void MatchingBlocks::Learn(const Positions& positions, std::uint64_t ordinal, const Block& block) {
  MatchingBlock& known = matching_blocks_[positions.exact];
  constexpr std::uint8_t kTaken = 2;
  if (known.seen == kTaken) return;
  if (known.seen != 0) positions_.erase(known.ordinal);
  positions_[ordinal] = positions.exact;
  ++known.seen;
  known.ordinal = ordinal;
  CopyOperatorFields(block, known);
  if (positions.of_any_size != 0) LearnAnySize(positions);
}

void MatchingBlocks::LearnAnySize(const Positions& positions) {
  std::uint64_t& exact = of_any_size_.try_emplace(positions.of_any_size, positions.exact).first->second;
  if (exact != kSeveral && !HaveSameOrigin(matching_blocks_[exact], matching_blocks_[positions.exact]))
    exact = kSeveral;
}

bool MatchingBlocks::EndBlock(const Block& block, bool temporary) {
  if (!follows_) return temporary;
  const auto position = positions_.find(block.recorded_ordinal());
  if (position == positions_.end()) return temporary;
  MatchingBlock& known = matching_blocks_[position->second];
  if (block.inferred()) return known.temporary;
  known.temporary = temporary;
  return temporary;
}

const MatchingBlocks::MatchingBlock* MatchingBlocks::Find(const Positions& positions, bool* is_resized) const {
  auto found = matching_blocks_.find(positions.exact);
  if (found != matching_blocks_.end()) return &found->second;
  const auto exact = of_any_size_.find(positions.of_any_size);
  found = exact == of_any_size_.end() ? matching_blocks_.end() : matching_blocks_.find(exact->second);
  *is_resized = found != matching_blocks_.end();
  return *is_resized ? &found->second : nullptr;
}

void MatchingBlocks::Infer(const Positions& positions, Block& block) {
  const MatchingBlock* const known = Find(positions, &block.is_resized);
  if (known == nullptr) {
    ++step_counts_.unknown_blocks;
    step_counts_.unknown_bytes += block.bytes;
    return;
  }
  const NameId own_user_name = block.user_name;
  CopyOperatorFields(*known, block);
  if (own_user_name.valid()) block.user_name = own_user_name;
  block.matching_ordinal = known->ordinal;
  ++step_counts_.inferred_blocks;
  step_counts_.inferred_bytes += block.bytes;
}

}  // namespace memoir
