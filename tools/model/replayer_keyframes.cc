// The part of a replay that takes state from keyframes: at its start when what came before is gone, and after a loss.
#include <algorithm>
#include <utility>

#include "tools/model/replayer.h"
#include "tools/model/snapshots.h"
#include "tools/read/keyframe.h"

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

constexpr std::uint32_t kCompiled = 8;  // beside a Place

void SetPlace(ModuleId module, std::uint32_t place, Block& block) {
  block.module = module;
  block.phase = PhaseOf(place & (kCompiled - 1));
  block.in_compiled_region = (place & kCompiled) != 0;
}

}  // namespace

// The next part begins with a keyframe, and what its threads recorded in between is nobody's loss.
void Replayer::PassEvicted() {
  Drain(kForever);
  Cut();
  resync_ = after_evicted_ = passed_evicted_ = true;
  evicted_from_ = now_;
  known_blocks_.Lose();
  for (const std::unique_ptr<ThreadReplay>& thread : threads_) {
    if (thread == nullptr) continue;
    thread->next_record_known = thread->run_end_known = false;
    thread->modules().clear();
  }
}

void Replayer::TakeKeyframe(const Chunk& chunk) {
  const bool apply = resync_ || (!began_ && chunk.header.sequence != 0);
  if (!apply && !(heap_.empty() && repeats_.empty())) return;  // its state is between events that are not shown yet
  v1::Keyframe keyframe;
  const KeyframeParts parts = apply ? KeyframeParts::kAll : KeyframeParts::kDevices;
  if (const absl::Status parsed = ParseKeyframe(chunk.payload->keyframe, parts, &keyframe); !parsed.ok()) {
    return SayDamage(std::string(parsed.message()));
  }
  if (!apply) return CompareKeyframe(keyframe);
  Drain(kForever);
  ApplyKeyframe(keyframe);
  resync_ = false;
}

void Replayer::CompareKeyframe(const v1::Keyframe& keyframe) {
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    const DeviceId device = ids_->device(totals.device());
    const bool same = !IsCaching(device) || (totals.reserved_bytes() == memory(device).reserved().all &&
                                             totals.active_bytes() == memory(device).active().all);
    if (same && totals.live_bytes() == blocks_.live().bytes(device)) continue;
    ++report_->keyframe_mismatches;
    return;
  }
}

void Replayer::ApplyKeyframe(const v1::Keyframe& keyframe) {
  now_ = std::max(now_, keyframe.tick());
  ApplyOpenRanges(keyframe);
  ApplySegments(keyframe);
  const bool anew = !began_ || after_evicted_;
  if (anew) ApplyOpenModules(keyframe);
  ApplyLiveBlocks(keyframe);
  ApplyFreeing(keyframe);
  ApplyDriver(keyframe);
  auto event = MakeEvent<KeyframeEvent>(process_, ThreadId(), keyframe.tick());
  event.keyframe = &keyframe;
  event.at_start = !began_;
  event.after_evicted = began_ && after_evicted_;
  event.name_of = [this](std::uint32_t number) { return ids_->name(number).id; };
  event.device_of = [this](std::uint32_t number) { return ids_->device(number); };
  visitor_.OnKeyframe(event);
  if (!began_) ShowReadings(keyframe);
  if (!began_) ShowHostReadings(keyframe);
  const bool of_snapshot = !SnapshotAskedBy(processes_[process_.value]).empty();  // which begins with its keyframe
  if (anew && !of_snapshot) {
    NoteFoldedPeaks(keyframe);
    NoteEvicted(keyframe);
  }
  after_evicted_ = false;
  if (!anew) return;
  EndGap();
  const v1::RecordingLevel level = !keyframe.ranges_off()  ? v1::LEVEL_ALL
                                   : keyframe.memory_off() ? v1::LEVEL_OFF
                                                           : v1::LEVEL_MEMORY;
  sight_.GoOnAt(level);
  known_blocks_.Switch(level);
  if (level != v1::LEVEL_ALL) BeginGap(level, Nanoseconds(process_, keyframe.tick()));
}

void Replayer::NoteEvicted(const v1::Keyframe& keyframe) {
  std::vector<ReplayReport::Process::Span>& evicted = report_->processes[process_.value].evicted;
  if (!began_) report_->processes[process_.value].evicted_at_start = true;
  if (evicted.size() == ReplayReport::Process::kMaxGaps) return;
  evicted.push_back({Nanoseconds(process_, evicted_from_), Nanoseconds(process_, keyframe.tick())});
}

void Replayer::NoteFoldedPeaks(const v1::Keyframe& keyframe) {
  std::vector<ReplayReport::Process::FoldedPeak>& peaks = report_->processes[process_.value].folded_peaks;
  peaks.clear();  // of a gap before: those are among these
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    peaks.push_back({ToString(dictionary_.device(ids_->device(totals.device()))), totals.peak_bytes(),
                     Nanoseconds(process_, totals.peak_tick())});
  }
}

void Replayer::ApplyLiveBlocks(const v1::Keyframe& keyframe) {
  const v1::LiveBlocks& live = keyframe.live();
  const int count = live.address_delta_size();
  const bool match =
      live.bytes_size() == count && live.serial_delta_size() == count && live.tick_delta_size() == count &&
      live.thread_size() == count && live.operator_name_size() == count && live.leaf_name_size() == count &&
      (live.device_size() == 0 || live.device_size() == count) &&
      (live.requested_bytes_size() == 0 || live.requested_bytes_size() == count) &&
      live.module_size() == live.place_size() && (live.place_size() == 0 || live.place_size() == count) &&
      (live.stack_size() == 0 || live.stack_size() == count) &&
      (live.forward_stack_size() == 0 || live.forward_stack_size() == count);
  if (!match) return SayDamage("columns of a keyframe do not match");
  std::vector<Block> wanted;
  absl::flat_hash_map<std::pair<DeviceId, std::uint64_t>, std::uint64_t> serials;
  Block block;
  block.origin = BlockOrigin::kKeyframe;
  for (int i = 0; i < count; ++i) {
    block.address += static_cast<std::uint64_t>(live.address_delta(i));
    block.serial += static_cast<std::uint64_t>(live.serial_delta(i));
    block.tick += static_cast<std::uint64_t>(live.tick_delta(i));
    block.bytes = live.bytes(i);
    block.requested_bytes = live.requested_bytes_size() == 0 ? 0 : live.requested_bytes(i);
    block.device = ids_->device(live.device_size() == 0 ? 0 : live.device(i));
    block.thread = live.thread(i) == 0 ? ThreadId() : ids_->thread(live.thread(i));
    block.operator_name = ids_->name(live.operator_name(i)).id;
    block.unseen = !block.operator_name.valid() && RepeatsSteps(processes_[process_.value].info);
    block.leaf_name = ids_->name(live.leaf_name(i)).id;
    block.callstack = live.stack_size() == 0 ? StackId() : ids_->stack(live.stack(i));
    block.forward_callstack = StackId();
    if (options_.modules && live.forward_stack_size() != 0)
      block.forward_callstack = ids_->stack(live.forward_stack(i));
    block.compiling = live.place_size() != 0 && (live.place(i) & (kCompiled - 1)) == v1::PLACE_COMPILE;
    if (options_.modules && live.place_size() != 0) SetPlace(ids_->module(live.module(i)), live.place(i), block);
    if (options_.modules && !block.compiling) block.module = ids_->ModuleAt(block.callstack, block.module);
    serials[{block.device, block.address}] = block.serial;
    const Block* there = blocks_.live().Find(block.device, block.address);
    if (there == nullptr || there->serial != block.serial) wanted.push_back(block);
  }
  std::vector<const Block*> gone;  // closing moves no block
  blocks_.live().ForEach([&](const Block& there) {
    const auto known = serials.find({there.device, there.address});
    if (known == serials.end() || known->second != there.serial) gone.push_back(&there);
  });
  std::ranges::sort(gone, {}, &Block::ordinal);  // the same in every replay
  for (const Block* there : gone) Close(*there, ThreadId(), keyframe.tick(), DeallocateCause::kResync);
  for (const Block& missing : wanted) {
    if (blocks_.live().Find(missing.device, missing.address) == nullptr) Open(missing, nullptr, keyframe.tick());
  }
}

// Calls that begin in parts that are gone.
void Replayer::ApplyOpenModules(const v1::Keyframe& keyframe) {
  for (const v1::OpenModules& open : keyframe.open_modules()) {
    if (open.depth_size() != open.module_size() || open.recompute_size() != open.module_size())
      return SayDamage("open modules of a keyframe do not match");
    ThreadReplay& thread = ThreadOf(ids_->thread(open.thread()));
    for (int i = 0; i < open.module_size(); ++i) {
      const auto depth = static_cast<std::size_t>(std::min<std::uint64_t>(open.depth(i), thread.stack().size()));
      thread.modules().push_back({ids_->module(open.module(i)), depth, open.recompute(i) != 0});
    }
  }
}

void Replayer::ApplyOpenRanges(const v1::Keyframe& keyframe) {
  absl::flat_hash_set<ThreadId> listed;  // any other thread has nothing open
  for (const v1::OpenRanges& open : keyframe.open()) {
    const std::size_t depth = open.kind().size();
    if (static_cast<std::size_t>(open.name_size()) != depth ||
        static_cast<std::size_t>(open.begin_tick_size()) != depth || depth > ThreadReplay::kMaxDepth) {
      return SayDamage("open ranges of a keyframe do not match");
    }
    ThreadReplay& thread = ThreadOf(ids_->thread(open.thread()));
    listed.insert(thread.id());
    const auto same = [&](std::size_t at) {
      return thread.stack()[at].name == ids_->name(open.name(static_cast<int>(at))).id;
    };
    std::size_t keep = 0;
    while (keep < depth && keep < thread.stack().size() && same(keep)) ++keep;
    SetDepth(thread, keep, keyframe.tick());
    for (std::size_t at = keep; at < depth; ++at) {
      const NameEntry name = ids_->name(open.name(static_cast<int>(at)));
      OpenRange range;
      range.name = name.id;
      range.schema = name.schema;
      range.is_operator = name.is_operator;
      const int source = open.kind()[at] - v1::RANGE_BEGIN_FUNCTION;
      if (source >= 0 && source <= 3) range.source = static_cast<RangeSource>(source);
      if (open.kind()[at] == v1::RANGE_BEGIN_NVTX) range.source = RangeSource::kNvtx;
      range.begin = open.begin_tick(static_cast<int>(at));
      auto event = MakeEvent<RangeBeginEvent>(process_, thread.id(), range.begin);
      event.before = true;
      PushRange(thread, range, event);
      if (options_.modules && static_cast<std::size_t>(open.module_size()) == depth && thread.stack().size() == at + 1)
        thread.range_at(static_cast<std::int32_t>(at))->module = ids_->module(open.module(static_cast<int>(at)));
    }
  }
  CloseOtherRanges(listed, keyframe.tick());
}

}  // namespace memoir
