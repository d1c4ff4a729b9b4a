#include "tools/analyze/accounting/balance.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tools/analyze/accounting/balance_instants.h"
#include "tools/analyze/accounting/memory_owners.h"

namespace memoir {
namespace {

constexpr std::uint64_t kLeastFinding = std::uint64_t{64} << 20;
constexpr std::uint64_t kShareOfFinding = 100;  // one hundredth of the used bytes

class BalancePass : public DeviceChangePass {
 public:
  BalancePass(const Capture& capture, const Selection& selection, const BalanceInstants& instants)
      : DeviceChangePass(capture, selection), instants_(instants) {}
  std::vector<DeviceBalance> TakeBalances() {
    std::vector<DeviceBalance> balances;
    for (auto& [id, balance] : balances_) balances.push_back(std::move(balance));
    return balances;
  }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override {
    last_step_.reset();
    settling_.clear();
  }
  void SeeStep(const StepEvent& event) override { last_step_ = event.step; }
  void SeeChange(const Event& event, DeviceId id, const Device& device, const DeviceSampleEvent* reading) override;
  void SeeSegment(const SegmentEvent& event) override {
    DeviceChangePass::SeeSegment(event);
    Settle(event.segment->device);
  }
  // Torch reports a segment before it allocates the block for which it reserved the segment. This function computes the
  // balance again, with the block.
  void SeeAllocate(const AllocateEvent& event) override {
    DeviceChangePass::SeeAllocate(event);
    const DeviceId id = event.block->device;
    if (!settling_.contains(id) || !IsSettled(balances_[id])) return;
    TakeHoldings(state(), id, balances_[id]);
    settling_.erase(id);
  }
  void SeeDriverAllocate(const DriverAllocateEvent& event) override {
    settling_.erase(event.block->device);
    DeviceChangePass::SeeDriverAllocate(event);
  }
  void SeeDriverFree(const DriverFreeEvent& event) override {
    settling_.erase(event.device);
    DeviceChangePass::SeeDriverFree(event);
  }

 private:
  DeviceBalance BalanceOf(const Event& event, DeviceId id, const DeviceSampleEvent* reading,
                          const BalanceInstant& instant) const;
  bool IsSettled(const DeviceBalance& balance) const {
    return balance.torch_driver_bytes + balance.in_mem_pools == balance.torch_reserved;
  }
  void Settle(DeviceId id);

  const BalanceInstants& instants_;
  std::map<DeviceId, DeviceBalance> balances_;
  std::map<DeviceId, std::int64_t> at_start_;  // unexplained bytes at the first sample
  // Balances that wait until torch has reported a segment. Torch allocates the driver memory first, then the sample is
  // taken, then torch reports the segment. So the driver allocation has no segment yet when the sample is taken.
  std::map<DeviceId, DeviceBalance> settling_;
  std::optional<std::uint64_t> last_step_;
};

DeviceBalance BalancePass::BalanceOf(const Event& event, DeviceId id, const DeviceSampleEvent* reading,
                                     const BalanceInstant& instant) const {
  const DeviceInfo& device = state().dictionary().device(id);
  DeviceBalance balance;
  balance.name = ToString(device);
  balance.product = device.product;
  balance.process = event.process;
  balance.rank = capture().processes()[event.process.value].rank();
  balance.ns = Nanoseconds(event);
  balance.step = last_step_;
  balance.went_on = instant.went_on;
  if (reading != nullptr) {
    balance.cause = reading->cause;
    balance.free = reading->free_bytes;
    balance.total = reading->total_bytes;
    balance.used = UsedBytes(*reading);
    balance.process_bytes = reading->process_bytes;
    balance.other_processes_bytes =
        reading->other_processes_bytes ? reading->other_processes_bytes : instant.other_processes;
    balance.pool_bytes = reading->pool_bytes;
  }
  TakeHoldings(state(), id, balance);
  balance.forgotten_bytes = state().driver().forgotten_bytes();
  balance.host = TakeHostBalance(state());
  return balance;
}

void BalancePass::SeeChange(const Event& event, DeviceId id, const Device& device, const DeviceSampleEvent* reading) {
  const auto instant = instants_.find(id);
  if (instant == instants_.end()) return;
  const bool first = device.changes == instant->second.first_reading, wanted = device.changes == instant->second.after;
  if (!first && !wanted) return;
  DeviceBalance balance = BalanceOf(event, id, reading, instant->second);
  if (first && balance.unexplained) at_start_[id] = *balance.unexplained;
  if (!wanted) return;
  if (const auto at_start = at_start_.find(id); at_start != at_start_.end())
    balance.unexplained_at_start = at_start->second;
  balance.evicted_used = instant->second.evicted_used;
  balance.evicted_ns = instant->second.evicted_ns;
  if (reading != nullptr && !IsSettled(balance)) settling_[id] = balance;
  balances_[id] = std::move(balance);
}

void BalancePass::Settle(DeviceId id) {
  const auto settling = settling_.find(id);
  if (settling == settling_.end()) return;
  DeviceBalance later = settling->second;
  TakeHoldings(state(), id, later);
  if (!IsSettled(later)) return;
  balances_[id] = std::move(later);
}

// Subtracts from `unexplained` the bytes that were already unexplained at the first sample, and stores them in
// `from_before`. Such bytes have no row, but they are not a leak. Does nothing if the recording contains the creation
// of the context and was never paused: in this case no memory was allocated while nothing was recorded.
void RemoveEarlierMemory(DeviceBalance& balance) {
  const bool saw_all = !balance.went_on && std::ranges::any_of(balance.rows, [](const BalanceRow& row) {
    return row.part == BalancePart::kContext;
  });
  if (saw_all) return;
  const std::int64_t at_most = std::min(balance.unexplained.value_or(0), balance.unexplained_at_start.value_or(0));
  if (at_most <= 0) return;
  balance.from_before = static_cast<std::uint64_t>(at_most);
  *balance.unexplained -= at_most;
}

// Returns the absolute value. 0 if `unexplained` is unknown.
std::uint64_t Distance(const std::optional<std::int64_t>& unexplained) {
  if (!unexplained) return 0;
  const auto bytes = static_cast<std::uint64_t>(*unexplained);
  return *unexplained < 0 ? std::uint64_t{0} - bytes : bytes;
}

}  // namespace

std::string_view ToString(BalancePart part) {
  switch (part) {
    case BalancePart::kAllocated:
      return "allocated";
    case BalancePart::kWaiting:
      return "waiting";
    case BalancePart::kCache:
      return "cache";
    case BalancePart::kPrivatePools:
      return "private_pools";
    case BalancePart::kInNoSegment:
      return "in_no_segment";
    case BalancePart::kWithoutCache:
      return "without_cache";
    case BalancePart::kMemoryPools:
      return "memory_pools";
    case BalancePart::kNccl:
      return "nccl";
    case BalancePart::kLibrary:
      return "library";
    case BalancePart::kContext:
      return "context";
    case BalancePart::kCode:
      return "code";
    case BalancePart::kForeign:
      return "foreign";
    case BalancePart::kOtherProcesses:
      return "other_processes";
  }
  return "foreign";
}

double DeviceBalance::share_explained() const {
  if (!used || !unexplained || *used == 0) return 1;
  const std::uint64_t distance = std::min(Distance(unexplained) + from_before, *used);
  return 1 - static_cast<double>(distance) / static_cast<double>(*used);
}

bool DeviceBalance::IsFinding() const {
  const std::uint64_t distance = Distance(unexplained);
  return used && distance > kLeastFinding && distance > *used / kShareOfFinding;
}

Task<absl::StatusOr<Balance>> AnalyzeBalance(JointReplays& replays, Selection selection, InstantChoice at) {
  const absl::StatusOr<BalanceInstants> instants = co_await FindBalanceInstants(replays, selection, at);
  if (!instants.ok()) co_return instants.status();
  BalancePass pass(replays.capture(), selection, *instants);
  absl::StatusOr<ReplayReport> report = co_await replays.Next(pass);
  if (!report.ok()) co_return report.status();
  Balance balance;
  balance.devices = pass.TakeBalances();
  for (DeviceBalance& device : balance.devices) RemoveEarlierMemory(device);
  balance.report = *std::move(report);
  std::ranges::stable_sort(balance.devices, [](const DeviceBalance& a, const DeviceBalance& b) {
    return std::tuple(a.IsFinding(), Distance(a.unexplained), a.used.value_or(a.sum)) >
           std::tuple(b.IsFinding(), Distance(b.unexplained), b.used.value_or(b.sum));
  });
  co_return balance;
}

absl::StatusOr<Balance> AnalyzeBalance(const Capture& capture, const Selection& selection, const InstantChoice& at) {
  JointReplays replays(capture, selection);
  return replays.Finish(AnalyzeBalance(replays, selection, at));
}

}  // namespace memoir
