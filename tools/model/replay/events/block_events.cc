#include "tools/model/replay/events/block_events.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/repeated_step_counts.h"

namespace memoir {
namespace {

Phase PhaseOf(std::uint32_t place) {
  switch (place) {
    case v1::PLACE_FORWARD:
      return Phase::kForward;
    case v1::PLACE_BACKWARD:
      return Phase::kBackward;
    case v1::PLACE_RECOMPUTE:
      return Phase::kRecompute;
    case v1::PLACE_OPTIMIZER:
      return Phase::kOptimizer;
    case v1::PLACE_COMPILE:
      return Phase::kCompile;
    default:
      return Phase::kOther;
  }
}

constexpr std::uint32_t kCompiled = 8;  // a bit in addition to a Place

void SetPlace(ModuleId module, std::uint32_t place, Block& block) {
  block.module = module;
  block.phase = PhaseOf(place & (kCompiled - 1));
  block.in_compiled_region = (place & kCompiled) != 0;
}

bool ColumnsMatch(const v1::LiveBlocks& live) {
  const int count = live.address_delta_size();
  return live.bytes_size() == count && live.serial_delta_size() == count && live.tick_delta_size() == count &&
         live.thread_size() == count && live.operator_name_size() == count && live.leaf_name_size() == count &&
         (live.device_size() == 0 || live.device_size() == count) &&
         (live.requested_bytes_size() == 0 || live.requested_bytes_size() == count) &&
         live.module_size() == live.place_size() && (live.place_size() == 0 || live.place_size() == count) &&
         (live.stack_size() == 0 || live.stack_size() == count) &&
         (live.forward_stack_size() == 0 || live.forward_stack_size() == count);
}

}  // namespace

void BlockEvents::ShowAllocate(ThreadReplay& thread, RunCursor& cursor) {
  Block block = decoder_.Decode(thread, cursor);
  block.bytes = cursor.run.bytes.Next();
  // BLOCK_FOUND events list the blocks that exist when the recorder begins to follow a device. If the recorder begins
  // at the first block of the device, the operator of this block still runs, and the block belongs to it. Nevertheless
  // the event is not an allocation, because the allocation was not recorded, and keyframes do not count it.
  const bool found = cursor.kind() == v1::BLOCK_FOUND;
  const bool caching = cursor.kind() != v1::ALLOCATE;
  if (caching) {
    block.requested_bytes = cursor.run.requested_bytes.Next();
    BlockDecoder::DecodeStreamAndPool(cursor, block);
    memories_.NoteFinding(block.device, thread.id(), found);
  }
  if (found && !block.operator_name.valid()) block.origin = BlockOrigin::kFound;
  if (!found) blocks_.Infer(thread, caching, block);
  blocks_.Allocate(thread, block, found);
}

void BlockEvents::ShowDeallocate(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  cursor.address += static_cast<std::uint64_t>(DecodeZigZag(run.address_delta.Next()));
  cursor.serial += static_cast<std::uint64_t>(DecodeZigZag(run.serial_delta.Next()));
  const DeviceId device = context_.ids().device(run.device.Next32());
  if (const Block* block = blocks_.FindClosed(device, cursor.address, cursor.serial)) {
    blocks_.Close(*block, thread.id(), cursor.tick, DeallocateCause::kRecorded, cursor.serial);
  }
}

void BlockEvents::DecodeNext(const v1::LiveBlocks& live, int i, Block& block) {
  DictionaryIds& ids = context_.ids();
  const bool finds_modules = context_.options().modules;
  block.address += static_cast<std::uint64_t>(live.address_delta(i));
  block.serial += static_cast<std::uint64_t>(live.serial_delta(i));
  block.tick += static_cast<std::uint64_t>(live.tick_delta(i));
  block.bytes = live.bytes(i);
  block.requested_bytes = live.requested_bytes_size() == 0 ? 0 : live.requested_bytes(i);
  block.device = ids.device(live.device_size() == 0 ? 0 : live.device(i));
  block.thread = live.thread(i) == 0 ? ThreadId() : ids.thread(live.thread(i));
  block.operator_name = ids.name(live.operator_name(i)).id;
  block.unseen = !block.operator_name.valid() && HasRepeatedSteps(context_.summary().info);
  block.leaf_name = ids.name(live.leaf_name(i)).id;
  block.callstack = live.stack_size() == 0 ? StackId() : ids.stack(live.stack(i));
  block.forward_callstack = StackId();
  if (finds_modules && live.forward_stack_size() != 0) block.forward_callstack = ids.stack(live.forward_stack(i));
  block.compiling = live.place_size() != 0 && (live.place(i) & (kCompiled - 1)) == v1::PLACE_COMPILE;
  if (finds_modules && live.place_size() != 0) SetPlace(ids.module(live.module(i)), live.place(i), block);
  if (finds_modules && !block.compiling) block.module = ids.ModuleAt(block.callstack, block.module);
}

void BlockEvents::ApplyKeyframe(const v1::Keyframe& keyframe, bool before) {
  const v1::LiveBlocks& live = keyframe.live();
  if (!ColumnsMatch(live)) return context_.ReportDamage("columns of a keyframe do not match");
  std::vector<Block> wanted;
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, std::uint64_t> serials;
  Block block;
  block.origin = BlockOrigin::kKeyframe;
  for (int i = 0; i < live.address_delta_size(); ++i) {
    DecodeNext(live, i, block);
    serials[{block.device, block.address}] = block.serial;
    const Block* there = blocks_.Find(block.device, block.address);
    if (there == nullptr || there->serial != block.serial) wanted.push_back(block);
  }
  std::vector<const Block*> gone;  // closing a block does not move other blocks
  blocks_.set().ForEach([&](const Block& there) {
    const auto known = serials.find({there.device, there.address});
    if (known == serials.end() || known->second != there.serial) gone.push_back(&there);
  });
  std::ranges::sort(gone, {}, &Block::ordinal);  // the same order in every replay
  for (const Block* there : gone) blocks_.Close(*there, ThreadId(), keyframe.tick(), DeallocateCause::kResync);
  for (const Block& missing : wanted) {
    if (blocks_.Find(missing.device, missing.address) == nullptr)
      blocks_.AddFromKeyframe(missing, keyframe.tick(), before);
  }
}

}  // namespace memoir
