#include "tools/analyze/accounting/balance_moments.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/analyze/grouping/driver_holders.h"

namespace memoir {
namespace {

constexpr std::uint64_t kClearlyLess = std::uint64_t{1} << 20;

std::string Seconds(std::uint64_t ns) { return absl::StrFormat("%.4f s", static_cast<double>(ns) / 1e9); }

// Of a device: what torch's allocator was seen to take from the driver.
std::uint64_t TakenByTorch(const ReplayState& state, DeviceId id) {
  std::uint64_t of_torch = 0;
  for (const auto& [who, held] : state.driver().held()) {
    const DriverRole role = RoleOf(who.call, state.dictionary().text(who.library));
    if (who.device == id && role == DriverRole::kTorchAllocator) of_torch += held.bytes;
  }
  return of_torch;
}

// What has an owner by now, blocks of torch's that it has not made a segment of included.
std::uint64_t KnownBytes(const ReplayState& state, DeviceId id) {
  return std::max(TakenByTorch(state, id), state.memory(id).reserved().all) + OutsideTorchBytes(state, id);
}

bool TorchHasMoreThanSegments(const ReplayState& state, DeviceId id) {
  return TakenByTorch(state, id) > state.memory(id).reserved().all;
}

class MomentPass : public DevicePass {
 public:
  MomentPass(const Capture& capture, const Selection& selection, const At& at)
      : DevicePass(capture, selection), at_(at) {}
  BalanceMoments TakeMoments();
  absl::Status CheckMoments() const;

  // Driver blocks of the meantime are not recorded: the next sample is a first one.
  void OnSwitch(const SwitchEvent& event) override {
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
    if (at_.kind != At::Kind::kMark || marked_) return;
    for (const auto& [id, device] : devices()) {
      if (device.process == event.process) choices_.erase(id);
    }
  }
  void Changed(const Event& event, DeviceId id, const Device& device, const DeviceReadingEvent* reading) override;
  void ReadBefore(const DeviceReadingEvent& reading) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override {
    given_ = event.block;
    DevicePass::SeeDriverAllocate(event);
    given_ = nullptr;
  }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override {
    DevicePass::SeeOutOfMemory(event);
    Refused(event, event.asked->device);
  }
  void SeeDriverRefused(const DriverRefusedEvent& event) override {
    DevicePass::SeeDriverRefused(event);
    Refused(event, event.asked->device);
  }
  void SeeMark(const MarkEvent& event) override {
    if (at_.kind == At::Kind::kMark && in_window() && state().dictionary().text(event.name) == at_.mark)
      marked_ = found_mark_ = true;
  }

 private:
  // Readings inside of one call of the program's come before the blocks of that call, and torch maps what it needs
  // piece by piece: such readings are one, and stand where the last of them does.
  struct Call {
    bool open = false;       // since the newest reading the driver has given blocks, and nothing else happened
    bool of_torch = false;   // these were torch's
    std::uint64_t used = 0;  // by that reading
    bool is_chosen = false;  // one of the readings is the moment so far
    bool is_first = false;   // one of them is the device's first
  };
  // A device's best moment so far; one with a reading is better than any without.
  struct Choice {
    BalanceMoment moment;
    bool has_reading = false;
    bool chosen = false;
    std::uint64_t most = 0;
    std::uint64_t unowned = 0;                     // of it, as far as was known then
    std::optional<std::uint64_t> other_processes;  // by the newest reading that knows it
    std::uint64_t first_reading = 0;               // so far, as BalanceMoment has it
    bool went_on = false;
    Call call;
  };
  void Choose(const Event& event, const Device& device, Choice& choice, bool with_reading) {
    choice.moment.after = device.changes;
    choice.moment.ns = Nanoseconds(event);
    choice.moment.other_processes = choice.other_processes;
    choice.moment.first_reading = choice.first_reading;
    choice.moment.went_on = choice.went_on;
    choice.has_reading = with_reading;
    choice.chosen = true;
  }
  bool IsBetter(const Event& event, DeviceId id, Choice& choice, std::optional<std::uint64_t> used,
                const DeviceReadingEvent* reading);
  // Whether this reading is of the same call as the one before.
  bool GoesOn(DeviceId id, const Call& call, std::uint64_t used) const {
    return call.open && (call.used == used || (call.of_torch && TorchHasMoreThanSegments(state(), id)));
  }
  void Follow(DeviceId id, const Device& device, Choice& choice, std::optional<std::uint64_t> used);
  void Refused(const Event& event, DeviceId id);

  const At& at_;
  const DriverBlock* given_ = nullptr;  // the event in hand gave it
  std::map<DeviceId, Choice> choices_;
  bool marked_ = false;  // in the process in hand
  bool found_mark_ = false;
  bool found_refusal_ = false;
  std::uint64_t first_left_ns_ = 0;  // of a process whose beginning is gone
  std::uint64_t end_ns_ = 0;
};

// Whether this moment answers the question better than the one before; of two, both with a reading or both without.
bool MomentPass::IsBetter(const Event& event, DeviceId id, Choice& choice, std::optional<std::uint64_t> used,
                          const DeviceReadingEvent* reading) {
  switch (at_.kind) {
    case At::Kind::kPeak: {
      const std::uint64_t taken =
          reading != nullptr ? used.value_or(0) : state().memory(id).reserved().all + OutsideTorchBytes(state(), id);
      const bool first = !choice.chosen || choice.has_reading != (reading != nullptr);
      // A reading inside a call comes before the blocks of that call: of equal ones that which has owners.
      const std::uint64_t known = reading != nullptr ? KnownBytes(state(), id) : taken;
      const std::uint64_t unowned = taken - std::min(taken, known);
      const bool owned_at_last = taken == choice.most && unowned + kClearlyLess <= choice.unowned;
      if (!first && taken <= choice.most && !owned_at_last) return false;
      choice.most = taken;
      choice.unowned = unowned;
      return true;
    }
    case At::Kind::kStart:
      return !choice.chosen || (reading != nullptr && !choice.has_reading);
    case At::Kind::kEnd:
      return true;
    case At::Kind::kTime:
      return Nanoseconds(event) <= at_.ns;
    case At::Kind::kMark:
      return !marked_;
    case At::Kind::kOutOfMemory:
      return reading != nullptr && reading->cause == v1::REFUSED;
  }
  return false;
}

void MomentPass::Changed(const Event& event, DeviceId id, const Device& device, const DeviceReadingEvent* reading) {
  Choice& choice = choices_[id];
  const std::optional<std::uint64_t> used = reading == nullptr ? std::nullopt : UsedBytes(*reading);
  if (reading != nullptr && reading->other_processes_bytes) {
    choice.other_processes = reading->other_processes_bytes;
    if (choice.chosen && !choice.moment.other_processes) choice.moment.other_processes = choice.other_processes;
  }
  // What a snapshot finds is not judged before it is all there.
  if (reading != nullptr && state().memory(id).is_being_found()) return;
  Follow(id, device, choice, used);
  if (used && choice.first_reading == 0) {
    choice.first_reading = device.changes;
    choice.call.is_first = true;
  }
  if (!in_window() || (choice.has_reading && !used)) return;
  const bool better = IsBetter(event, id, choice, used, used ? reading : nullptr);
  const bool moves = used && choice.call.is_chosen && (at_.kind == At::Kind::kStart || at_.kind == At::Kind::kTime);
  if (better || moves) Choose(event, device, choice, used.has_value());
  if (better && used) choice.call.is_chosen = true;
}

void MomentPass::Follow(DeviceId id, const Device& device, Choice& choice, std::optional<std::uint64_t> used) {
  Call& call = choice.call;
  if (given_ != nullptr) {
    const DriverRole role = RoleOf(given_->call, state().dictionary().text(given_->library));
    call.of_torch = call.of_torch && role == DriverRole::kTorchAllocator;
  } else if (!used) {
    call = {};
  } else {
    if (!GoesOn(id, call, *used)) call = {};
    if (call.is_first) choice.first_reading = device.changes;
    if (call.is_first && call.is_chosen) choice.moment.first_reading = device.changes;
    call.open = call.of_torch = true;
    call.used = *used;
  }
}

// A refusal without a reading after it is a moment, too, until there is one.
void MomentPass::Refused(const Event& event, DeviceId id) {
  if (at_.kind != At::Kind::kOutOfMemory || !in_window()) return;
  found_refusal_ = true;
  const bool of_host = !devices().contains(id);
  for (const auto& [any, device] : devices()) {
    const bool meant = of_host ? device.process == event.process : any == id;
    if (meant && !choices_[any].has_reading) Choose(event, device, choices_[any], false);
  }
}

void MomentPass::ReadBefore(const DeviceReadingEvent& reading) {
  const std::optional<std::uint64_t> used = UsedBytes(reading);
  BalanceMoment& moment = choices_[reading.device].moment;
  if (!used || (moment.folded_used && *used <= *moment.folded_used)) return;
  moment.folded_used = used;
  moment.folded_ns = Nanoseconds(reading);
}

BalanceMoments MomentPass::TakeMoments() {
  BalanceMoments moments;
  for (const auto& [id, choice] : choices_) {
    if (!choice.chosen) continue;
    BalanceMoment& moment = moments[id] = choice.moment;
    if (moment.folded_used && (at_.kind != At::Kind::kPeak || *moment.folded_used <= choice.most))
      moment.folded_used.reset();
  }
  return moments;
}

absl::Status MomentPass::CheckMoments() const {
  const std::string& path = capture().path();
  if (at_.kind == At::Kind::kMark && !found_mark_)
    return absl::NotFoundError(absl::StrCat(path, ": no mark '", at_.mark, "'; memoir.mark() makes them"));
  if (at_.kind == At::Kind::kOutOfMemory && !found_refusal_)
    return absl::NotFoundError("no out-of-memory error is recorded in " + path);
  if (at_.kind != At::Kind::kTime) return absl::OkStatus();
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

bool DevicePass::IsCuda(DeviceId id) {
  if (id.value >= is_cuda_.size()) is_cuda_.resize(id.value + 1, -1);
  std::int8_t& is_cuda = is_cuda_[id.value];
  if (is_cuda < 0) is_cuda = state().dictionary().device(id).type == "cuda";
  return is_cuda == 1;
}

std::optional<std::uint64_t> UsedBytes(const DeviceReadingEvent& reading) {
  if (!reading.free_bytes || !reading.total_bytes || *reading.free_bytes > *reading.total_bytes) return std::nullopt;
  return *reading.total_bytes - *reading.free_bytes;
}

absl::StatusOr<BalanceMoments> FindBalanceMoments(const Capture& capture, const Selection& selection, const At& at) {
  MomentPass pass(capture, selection, at);
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, ReplayOptionsFor(selection, false, false));
  if (!report.ok()) return report.status();
  if (!pass.found().ok()) return pass.found();
  if (absl::Status found = pass.CheckMoments(); !found.ok()) return found;
  return pass.TakeMoments();
}

}  // namespace memoir
