#include "tools/model/replay/keyframes.h"

#include <string>
#include <vector>

#include "tools/model/snapshot_trigger.h"
#include "tools/read/chunk/keyframe_parser.h"

namespace memoir {

void Keyframes::BeginProcess() {
  began_ = awaited_ = after_evicted_ = false;
  evicted_from_ = context_.summary().info.start().tick();
}

void Keyframes::PassEvicted() {
  awaited_ = after_evicted_ = true;
  evicted_from_ = context_.now();
}

std::optional<v1::Keyframe> Keyframes::Parse(const Chunk& chunk, bool is_applied) const {
  std::optional<v1::Keyframe> keyframe(std::in_place);
  const KeyframeParts parts = is_applied ? KeyframeParts::kAll : KeyframeParts::kDevices;
  if (const absl::Status parsed = ParseKeyframe(chunk.payload->keyframe, parts, &*keyframe); !parsed.ok()) {
    context_.ReportDamage(std::string(parsed.message()));
    return std::nullopt;
  }
  return keyframe;
}

void Keyframes::Compare(const v1::Keyframe& keyframe) const {
  const DeviceMemories& memories = handlers_.shared.memories;
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    const DeviceId device = context_.ids().device(totals.device());
    const DeviceMemory& memory = memories.Find(device);
    const bool same = !memories.IsCaching(device) || (totals.reserved_bytes() == memory.reserved().all &&
                                                      totals.active_bytes() == memory.active().all);
    if (same && totals.live_bytes() == handlers_.shared.blocks.set().bytes(device)) continue;
    ++context_.report().keyframe_mismatches;
    return;
  }
}

void Keyframes::Apply(const v1::Keyframe& keyframe) {
  context_.AdvanceTo(keyframe.tick());
  const bool anew = !began_ || after_evicted_;
  handlers_.ranges.ApplyKeyframe(keyframe);
  handlers_.allocator.ApplySegments(keyframe);
  if (anew) handlers_.modules.ApplyKeyframe(keyframe);
  handlers_.blocks.ApplyKeyframe(keyframe, anew);
  handlers_.allocator.ApplyPendingFrees(keyframe);
  handlers_.driver.ApplyKeyframe(keyframe);
  Visit(keyframe);
  if (!began_) handlers_.driver.ShowSamplesOfKeyframe(keyframe);
  if (!began_) handlers_.host.ShowReadingsOfKeyframe(keyframe);
  // A snapshot always begins with a keyframe, although no parts were evicted before it.
  const bool of_snapshot = !SnapshotTrigger(context_.summary()).empty();
  if (anew && !of_snapshot) {
    NoteEvictedPeaks(keyframe);
    NoteEvicted(keyframe);
  }
  if (anew) handlers_.levels.ApplyKeyframe(keyframe);
  awaited_ = after_evicted_ = false;
}

void Keyframes::Visit(const v1::Keyframe& keyframe) {
  auto event = context_.MakeEvent<KeyframeEvent>(ThreadId(), keyframe.tick());
  event.keyframe = &keyframe;
  event.at_start = !began_;
  event.after_evicted = began_ && after_evicted_;
  event.name_of = [this](std::uint32_t number) { return context_.ids().name(number).id; };
  event.device_of = [this](std::uint32_t number) { return context_.ids().device(number); };
  context_.visitor().OnKeyframe(event);
}

void Keyframes::NoteEvicted(const v1::Keyframe& keyframe) {
  ReplayReport::Process& process = context_.process_report();
  if (!began_) process.evicted_at_start = true;
  if (process.evicted.size() == ReplayReport::Process::kMaxGaps) return;
  process.evicted.push_back({context_.Nanoseconds(evicted_from_), context_.Nanoseconds(keyframe.tick())});
}

void Keyframes::NoteEvictedPeaks(const v1::Keyframe& keyframe) {
  std::vector<ReplayReport::Process::EvictedPeak>& peaks = context_.process_report().evicted_peaks;
  peaks.clear();  // the peaks of this keyframe include the peaks of earlier gaps
  for (const v1::DeviceTotals& totals : keyframe.devices()) {
    peaks.push_back({ToString(context_.dictionary().device(context_.ids().device(totals.device()))),
                     totals.peak_bytes(), context_.Nanoseconds(totals.peak_tick())});
  }
}

}  // namespace memoir
