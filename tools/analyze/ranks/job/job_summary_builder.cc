#include "tools/analyze/ranks/job/job_summary_builder.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/read/capture_folder.h"

namespace memoir {
namespace {

// Rounds up to a power of two, because a damaged file may contain any number and windows need powers of two.
std::uint64_t PowerOfTwo(std::uint64_t steps) {
  std::uint64_t power = 1;
  while (power < steps && power < (std::uint64_t{1} << 62)) power *= 2;
  return power;
}

StepLevels LevelsOf(const v1::StepWindow& window) {
  return {window.allocated(), window.active(),  window.reserved(),
          window.used(),      window.buckets(), window.without_buckets()};
}

void SetLevels(const StepLevels& levels, v1::StepWindow& window) {
  window.set_allocated(levels.allocated);
  window.set_active(levels.active);
  window.set_reserved(levels.reserved);
  window.set_used(levels.used);
  window.set_buckets(levels.buckets);
  window.set_without_buckets(levels.without_buckets);
}

// Orders ranks by number, and processes without a rank after all ranks. Orders recordings of one rank by facts that
// differ between recordings, and last by their serialized bytes, so that two different recordings are never equal.
bool ComesBefore(const v1::RecordingSummary& a, const v1::RecordingSummary& b) {
  const auto key = [](const v1::RecordingSummary& recording) {
    const v1::ProcessInfo& info = recording.process();
    return std::tuple(!HasRank(info), info.rank(), info.restart(), info.start().realtime_ns(), info.host(), info.pid());
  };
  const auto left = key(a), right = key(b);
  return left != right ? left < right : a.SerializeAsString() < b.SerializeAsString();
}

// With equal bytes, "rank 9" comes before "rank 10".
bool IsMore(std::uint64_t bytes, const std::string& of, std::uint64_t than, const std::string& than_of) {
  if (bytes != than) return bytes > than;
  return std::tuple(of.size(), of) < std::tuple(than_of.size(), than_of);
}

}  // namespace

std::string KindOfDevice(const std::string& device) { return device.substr(0, device.find(':')); }

void JobSummaryBuilder::Window::Raise(const Window& other) {
  if (IsMore(other.most.allocated, other.most_of, most.allocated, most_of)) most_of = other.most_of;
  most.Raise(other.most);
}

void JobSummaryBuilder::Windows::Widen(std::uint64_t wider) {
  by_number = Widened(by_number, steps, wider);
  steps = wider;
}

void JobSummaryBuilder::Windows::Add(std::uint64_t of_steps, std::uint64_t first_step, const Window& window) {
  const std::uint64_t width = PowerOfTwo(of_steps);
  if (width > steps) Widen(width);
  const auto [sum, added] = by_number.try_emplace(first_step / steps, window);
  if (!added) sum->second.Raise(window);
  while (by_number.size() > kMostWindows) Widen(2 * steps);
}

void JobSummaryBuilder::AddRow(HoldingSums& held, const std::string& name, const Row& row) {
  const auto known = held.rows.find(name);
  if (known == held.rows.end() && rows_ >= kMostRows) {
    held.other_bytes += row.bytes;
    return;
  }
  rows_ += known == held.rows.end();
  Row& sum = known == held.rows.end() ? held.rows[name] : known->second;
  sum.bytes += row.bytes;
  sum.devices += row.devices;
  if (sum.most_of.empty() || IsMore(row.most_bytes, row.most_of, sum.most_bytes, sum.most_of)) {
    sum.most_bytes = row.most_bytes;
    sum.most_of = row.most_of;
  }
}

void JobSummaryBuilder::AddTo(const std::string& kind, const v1::DeviceSummary& device, const std::string& of) {
  for (const v1::StepWindow& window : device.windows())
    windows_[kind].Add(device.window_steps(), window.first_step(), {LevelsOf(window), of});
  for (const v1::Composition& composition : device.at_peak()) {
    HoldingSums& held = held_[{kind, composition.by()}];
    ++held.devices;
    held.other_bytes += composition.other_bytes();
    held.bytes += composition.other_bytes();
    for (const v1::HeldRow& row : composition.rows()) {
      held.bytes += row.bytes();
      AddRow(held, row.name(), {row.bytes(), 1, row.bytes(), of});
    }
  }
}

void JobSummaryBuilder::Add(const v1::RecordingSummary& recording) {
  const std::string of = RankLabel(recording);
  v1::RecordingSummary& kept = recordings_.emplace_back(recording);
  for (v1::DeviceSummary& device : *kept.mutable_devices()) {
    AddTo(KindOfDevice(device.name()), device, of);
    device.clear_windows();
    device.clear_window_steps();
    device.clear_at_peak();
  }
}

void JobSummaryBuilder::Add(const v1::JobSummary& job) {
  recordings_.insert(recordings_.end(), job.recordings().begin(), job.recordings().end());
  for (const v1::JobWindows& windows : job.windows()) {
    for (const v1::JobWindow& window : windows.windows())
      windows_[windows.device()].Add(windows.window_steps(), window.most().first_step(),
                                     {LevelsOf(window.most()), window.most_of()});
  }
  for (const v1::JobComposition& composition : job.at_peak()) {
    HoldingSums& held = held_[{composition.device(), composition.by()}];
    held.bytes += composition.bytes();
    held.other_bytes += composition.other_bytes();
    held.devices += composition.devices();
    for (const v1::JobHeldRow& row : composition.rows())
      AddRow(held, row.name(), {row.bytes(), row.devices(), row.most_bytes(), row.most_of()});
  }
}

v1::JobSummary JobSummaryBuilder::Take() const {
  v1::JobSummary job;
  std::vector<const v1::RecordingSummary*> sorted;
  for (const v1::RecordingSummary& recording : recordings_) sorted.push_back(&recording);
  std::ranges::sort(sorted, [](const auto* a, const auto* b) { return ComesBefore(*a, *b); });
  for (const v1::RecordingSummary* const recording : sorted) *job.add_recordings() = *recording;
  for (const auto& [kind, windows] : windows_) {
    v1::JobWindows& added = *job.add_windows();
    added.set_device(kind);
    added.set_window_steps(windows.steps);
    for (const auto& [number, window] : windows.by_number) {
      v1::JobWindow& of = *added.add_windows();
      SetLevels(window.most, *of.mutable_most());
      of.mutable_most()->set_first_step(number * windows.steps);
      of.set_most_of(window.most_of);
    }
  }
  for (const auto& [key, held] : held_) {
    v1::JobComposition& added = *job.add_at_peak();
    added.set_device(key.first);
    added.set_by(key.second);
    added.set_bytes(held.bytes);
    added.set_other_bytes(held.other_bytes);
    added.set_devices(held.devices);
    for (const auto& [name, row] : held.rows) {
      v1::JobHeldRow& of = *added.add_rows();
      of.set_name(name);
      of.set_bytes(row.bytes);
      of.set_devices(row.devices);
      of.set_most_bytes(row.most_bytes);
      of.set_most_of(row.most_of);
    }
  }
  return job;
}

}  // namespace memoir
