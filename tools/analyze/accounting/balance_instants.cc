#include "tools/analyze/accounting/balance_instants.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/analyze/grouping/driver_holdings.h"

namespace memoir {
namespace {

constexpr std::uint64_t kClearlyLess = std::uint64_t{1} << 20;

std::string Seconds(std::uint64_t ns) { return absl::StrFormat("%.4f s", static_cast<double>(ns) / 1e9); }

// Returns the bytes of the recorded driver allocations of torch's allocator on a device.
std::uint64_t BytesOfTorch(const ReplayState& state, DeviceId id) {
  std::uint64_t of_torch = 0;
  for (const auto& [who, held] : state.driver().totals()) {
    const DriverRole role = RoleOf(who.call, state.dictionary().text(who.library));
    if (who.device == id && role == DriverRole::kTorchAllocator) of_torch += held.bytes;
  }
  return of_torch;
}

// Returns how many bytes of a device have a known owner. Torch's driver allocations are included even before torch has
// reported their segments.
std::uint64_t KnownBytes(const ReplayState& state, DeviceId id) {
  return std::max(BytesOfTorch(state, id), state.memory(id).reserved().all) + BytesOutsideTorch(state, id);
}

// Returns true if torch has driver allocations whose segments it has not reported yet.
bool TorchHasMoreThanSegments(const ReplayState& state, DeviceId id) {
  return BytesOfTorch(state, id) > state.memory(id).reserved().all;
}

class BalanceInstantPass : public DeviceChangePass {
 public:
  BalanceInstantPass(const Capture& capture, const Selection& selection, const InstantChoice& at)
      : DeviceChangePass(capture, selection), at_(at) {}
  BalanceInstants TakeInstants();
  absl::Status CheckInstants() const;

  // Driver allocations from the time when recording was off are unknown, so the next sample counts as the first sample.
  void OnSwitch(const LevelChangeEvent& event) override {
    if (event.before != v1::LEVEL_OFF) return;
    for (auto& [id, choice] : choices_) {
      const auto device = devices().find(id);
      if (device != devices().end() && device->second.process != event.process) continue;
      choice.first_reading = 0;
      choice.went_on = true;
      choice.call = {};
    }
  }

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override {
    marked_ = false;
    if (!capture().processes()[event.process.value].starts_at_first_chunk)
      first_left_ns_ = std::max(first_left_ns_, Nanoseconds(event));
  }
  void SeeProcessEnd(const ProcessEvent& event) override {
    end_ns_ = std::max(end_ns_, Nanoseconds(event));
    if (at_.kind != InstantChoice::Kind::kMark || marked_) return;
    for (const auto& [id, device] : devices()) {
      if (device.process == event.process) choices_.erase(id);
    }
  }
  void SeeChange(const Event& event, DeviceId id, const Device& device, const DeviceSampleEvent* reading) override;
  void ReadBefore(const DeviceSampleEvent& reading) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override {
    given_ = event.block;
    DeviceChangePass::SeeDriverAllocate(event);
    given_ = nullptr;
  }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override {
    DeviceChangePass::SeeOutOfMemory(event);
    NoteRefusal(event, event.asked->device);
  }
  void SeeDriverRefused(const DriverRefusedEvent& event) override {
    DeviceChangePass::SeeDriverRefused(event);
    NoteRefusal(event, event.asked->device);
  }
  void SeeMark(const MarkEvent& event) override {
    if (at_.kind == InstantChoice::Kind::kMark && in_window() && state().dictionary().text(event.name) == at_.mark)
      marked_ = found_mark_ = true;
  }

 private:
  // The device samples of one call in which torch's allocator takes memory from the driver. They count as one sample,
  // at the time of the last sample. Each sample is recorded before the block that the call allocates. A call may have
  // several samples, because torch maps memory piece by piece.
  struct Call {
    bool open = false;       // since the newest sample there were only driver allocations
    bool of_torch = false;   // all of these driver allocations are torch's
    std::uint64_t used = 0;  // used bytes of the newest sample
    bool is_chosen = false;  // one of the samples is the current choice
    bool is_first = false;   // one of the samples is the device's first
  };
  // The best instant of a device so far. An instant with a sample is better than any instant without a sample.
  struct Choice {
    BalanceInstant instant;
    bool has_reading = false;                      // `instant` has a sample
    bool chosen = false;                           // false: no instant was chosen yet
    std::uint64_t most = 0;                        // for kPeak: used bytes at `instant`
    std::uint64_t unowned = 0;                     // bytes of `most` without a known owner
    std::optional<std::uint64_t> other_processes;  // bytes of other processes, from the newest sample that has them
    std::uint64_t first_reading = 0;               // BalanceInstant::first_reading, of the samples so far
    bool went_on = false;
    Call call;
  };
  void Choose(const Event& event, const Device& device, Choice& choice, bool with_reading) {
    choice.instant.after = device.changes;
    choice.instant.ns = Nanoseconds(event);
    choice.instant.other_processes = choice.other_processes;
    choice.instant.first_reading = choice.first_reading;
    choice.instant.went_on = choice.went_on;
    choice.has_reading = with_reading;
    choice.chosen = true;
  }
  bool IsBetter(const Event& event, DeviceId id, Choice& choice, std::optional<std::uint64_t> used,
                const DeviceSampleEvent* reading);
  // Returns true if the sample belongs to the same call as the previous sample.
  bool GoesOn(DeviceId id, const Call& call, std::uint64_t used) const {
    return call.open && (call.used == used || (call.of_torch && TorchHasMoreThanSegments(state(), id)));
  }
  // Updates `choice.call` after a change of the device. `used`: set if the change is a sample.
  void Follow(DeviceId id, const Device& device, Choice& choice, std::optional<std::uint64_t> used);
  void NoteRefusal(const Event& event, DeviceId id);

  const InstantChoice& at_;
  const DriverBlock* given_ = nullptr;  // the block of the current event, if the event allocates driver memory
  std::map<DeviceId, Choice> choices_;
  bool marked_ = false;  // the replay of the current process has passed the mark
  bool found_mark_ = false;
  bool found_refusal_ = false;
  std::uint64_t first_left_ns_ = 0;  // latest time at which a process with evicted first parts begins
  std::uint64_t end_ns_ = 0;
};

// Returns true if this instant is better than the current choice. For kPeak, also stores its bytes in `choice`.
bool BalanceInstantPass::IsBetter(const Event& event, DeviceId id, Choice& choice, std::optional<std::uint64_t> used,
                                  const DeviceSampleEvent* reading) {
  switch (at_.kind) {
    case InstantChoice::Kind::kPeak: {
      const std::uint64_t taken =
          reading != nullptr ? used.value_or(0) : state().memory(id).reserved().all + BytesOutsideTorch(state(), id);
      const bool first = !choice.chosen || choice.has_reading != (reading != nullptr);
      // A sample within a call is recorded before the blocks of that call, so the bytes of these blocks are unowned. If
      // two samples have equal used bytes, a later sample with clearly fewer unowned bytes is better.
      const std::uint64_t known = reading != nullptr ? KnownBytes(state(), id) : taken;
      const std::uint64_t unowned = taken - std::min(taken, known);
      const bool owned_at_last = taken == choice.most && unowned + kClearlyLess <= choice.unowned;
      if (!first && taken <= choice.most && !owned_at_last) return false;
      choice.most = taken;
      choice.unowned = unowned;
      return true;
    }
    case InstantChoice::Kind::kStart:
      return !choice.chosen || (reading != nullptr && !choice.has_reading);
    case InstantChoice::Kind::kEnd:
      return true;
    case InstantChoice::Kind::kTime:
      return Nanoseconds(event) <= at_.ns;
    case InstantChoice::Kind::kMark:
      return !marked_;
    case InstantChoice::Kind::kOutOfMemory:
      return reading != nullptr && reading->cause == v1::REFUSED;
  }
  return false;
}

void BalanceInstantPass::SeeChange(const Event& event, DeviceId id, const Device& device,
                                   const DeviceSampleEvent* reading) {
  Choice& choice = choices_[id];
  const std::optional<std::uint64_t> used = reading == nullptr ? std::nullopt : UsedBytes(*reading);
  if (reading != nullptr && reading->other_processes_bytes) {
    choice.other_processes = reading->other_processes_bytes;
    if (choice.chosen && !choice.instant.other_processes) choice.instant.other_processes = choice.other_processes;
  }
  // A sample does not count while the replay adds the blocks that were live when recording began or resumed, because
  // the sums are incomplete.
  if (reading != nullptr && state().memory(id).is_being_found()) return;
  Follow(id, device, choice, used);
  if (used && choice.first_reading == 0) {
    choice.first_reading = device.changes;
    choice.call.is_first = true;
  }
  if (!in_window() || (choice.has_reading && !used)) return;
  const bool better = IsBetter(event, id, choice, used, used ? reading : nullptr);
  const bool moves = used && choice.call.is_chosen &&
                     (at_.kind == InstantChoice::Kind::kStart || at_.kind == InstantChoice::Kind::kTime);
  if (better || moves) Choose(event, device, choice, used.has_value());
  if (better && used) choice.call.is_chosen = true;
}

void BalanceInstantPass::Follow(DeviceId id, const Device& device, Choice& choice, std::optional<std::uint64_t> used) {
  Call& call = choice.call;
  if (given_ != nullptr) {
    const DriverRole role = RoleOf(given_->call, state().dictionary().text(given_->library));
    call.of_torch = call.of_torch && role == DriverRole::kTorchAllocator;
  } else if (!used) {
    call = {};
  } else {
    if (!GoesOn(id, call, *used)) call = {};
    if (call.is_first) choice.first_reading = device.changes;
    if (call.is_first && call.is_chosen) choice.instant.first_reading = device.changes;
    call.open = call.of_torch = true;
    call.used = *used;
  }
}

// For each device that a refused request concerns, chooses the instant of the request, unless a sample is already
// chosen. A sample that follows the refused request replaces this choice.
void BalanceInstantPass::NoteRefusal(const Event& event, DeviceId id) {
  if (at_.kind != InstantChoice::Kind::kOutOfMemory || !in_window()) return;
  found_refusal_ = true;
  const bool of_host = !devices().contains(id);
  for (const auto& [any, device] : devices()) {
    const bool meant = of_host ? device.process == event.process : any == id;
    if (meant && !choices_[any].has_reading) Choose(event, device, choices_[any], false);
  }
}

void BalanceInstantPass::ReadBefore(const DeviceSampleEvent& reading) {
  const std::optional<std::uint64_t> used = UsedBytes(reading);
  BalanceInstant& instant = choices_[reading.device].instant;
  if (!used || (instant.evicted_used && *used <= *instant.evicted_used)) return;
  instant.evicted_used = used;
  instant.evicted_ns = Nanoseconds(reading);
}

BalanceInstants BalanceInstantPass::TakeInstants() {
  BalanceInstants instants;
  for (const auto& [id, choice] : choices_) {
    if (!choice.chosen) continue;
    BalanceInstant& instant = instants[id] = choice.instant;
    if (instant.evicted_used && (at_.kind != InstantChoice::Kind::kPeak || *instant.evicted_used <= choice.most))
      instant.evicted_used.reset();
  }
  return instants;
}

absl::Status BalanceInstantPass::CheckInstants() const {
  const std::string& path = capture().path();
  if (at_.kind == InstantChoice::Kind::kMark && !found_mark_)
    return absl::NotFoundError(absl::StrCat(path, ": no mark '", at_.mark, "'; memoir.mark() makes them"));
  if (at_.kind == InstantChoice::Kind::kOutOfMemory && !found_refusal_)
    return absl::NotFoundError("no out-of-memory error is recorded in " + path);
  if (at_.kind != InstantChoice::Kind::kTime) return absl::OkStatus();
  if (at_.ns > end_ns_) {
    return absl::OutOfRangeError(
        absl::StrCat(path, ": the recording ends at ", Seconds(end_ns_), ", before ", Seconds(at_.ns)));
  }
  if (at_.ns < first_left_ns_) {
    return absl::OutOfRangeError(absl::StrCat(path, ": what is left of the recording begins at ",
                                              Seconds(first_left_ns_), ", after ", Seconds(at_.ns)));
  }
  return absl::OkStatus();
}

}  // namespace

bool DeviceChangePass::IsCuda(DeviceId id) {
  if (id.value >= is_cuda_.size()) is_cuda_.resize(id.value + 1, -1);
  std::int8_t& is_cuda = is_cuda_[id.value];
  if (is_cuda < 0) is_cuda = state().dictionary().device(id).type == "cuda";
  return is_cuda == 1;
}

std::optional<std::uint64_t> UsedBytes(const DeviceSampleEvent& reading) {
  if (!reading.free_bytes || !reading.total_bytes || *reading.free_bytes > *reading.total_bytes) return std::nullopt;
  return *reading.total_bytes - *reading.free_bytes;
}

Task<absl::StatusOr<BalanceInstants>> FindBalanceInstants(JointReplays& replays, Selection selection,
                                                          InstantChoice at) {
  BalanceInstantPass pass(replays.capture(), selection, at);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass);
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  if (absl::Status found = pass.CheckInstants(); !found.ok()) co_return found;
  co_return pass.TakeInstants();
}

}  // namespace memoir
