#include "tools/analyze/report/stack_curve.h"

#include <algorithm>
#include <utility>

namespace memoir {

std::size_t Buckets::Of(std::uint64_t ns) const {
  if (ns <= begin_ns || end_ns <= begin_ns) return 0;
  const double place = static_cast<double>(ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
  return std::min(count - 1, static_cast<std::size_t>(place * static_cast<double>(count)));
}

std::uint64_t Buckets::BeginOf(std::size_t bucket) const {
  const double place = static_cast<double>(bucket) / static_cast<double>(count);
  return begin_ns + static_cast<std::uint64_t>(place * static_cast<double>(end_ns - begin_ns));
}

StackCurve::StackCurve(const Buckets& buckets) : buckets_(buckets) {
  curve_.most.resize(buckets.count);
  curve_.most_ns.resize(buckets.count, buckets.begin_ns);
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    if (kReportGroupings[i].stacked) curve_.changes[i].resize(buckets.count);
  }
}

void StackCurve::Save() {
  unsaved_most_ = false;
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    Stack& stack = stacks_[i];
    for (const LabelNumber label : stack.unsaved) {
      std::vector<ReportCurve::Change>& changes = curve_.changes[i][bucket_];
      if (stack.saved_bucket[label] != bucket_ + 1) {
        stack.saved_bucket[label] = bucket_ + 1;
        stack.saved_at[label] = static_cast<std::uint32_t>(changes.size());
        changes.push_back({label, 0});
      }
      changes[stack.saved_at[label]].bytes = stack.now[label];
      stack.is_unsaved[label] = false;
    }
    stack.unsaved.clear();
  }
}

// What there is lasts until the next change: all buckets on the way have it.
void StackCurve::AdvanceTo(std::size_t bucket) {
  while (bucket_ < bucket) {
    if (unsaved_most_) Save();
    ++bucket_;
    curve_.most[bucket_] = live_;
    curve_.most_ns[bucket_] = buckets_.BeginOf(bucket_);
    unsaved_most_ = true;
  }
}

void StackCurve::Touch(const Labels& labels, std::uint64_t bytes, bool more) {
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    if (!kReportGroupings[i].stacked) continue;
    Stack& stack = stacks_[i];
    const LabelNumber label = labels[i];
    if (label >= stack.now.size()) {
      stack.now.resize(label + std::size_t{1});
      stack.is_unsaved.resize(stack.now.size());
      stack.saved_bucket.resize(stack.now.size());
      stack.saved_at.resize(stack.now.size());
    }
    stack.now[label] += more ? bytes : 0 - bytes;
    if (stack.is_unsaved[label]) continue;
    stack.is_unsaved[label] = true;
    stack.unsaved.push_back(label);
  }
}

void StackCurve::Add(std::uint64_t ns, std::uint64_t bytes, const Labels& labels) {
  AdvanceTo(buckets_.Of(ns));
  Touch(labels, bytes, true);
  live_ += bytes;
  if (live_ <= curve_.most[bucket_]) return;
  curve_.most[bucket_] = live_;
  curve_.most_ns[bucket_] = ns;
  unsaved_most_ = true;
}

void StackCurve::Remove(std::uint64_t ns, std::uint64_t bytes, const Labels& labels) {
  AdvanceTo(buckets_.Of(ns));
  if (unsaved_most_) Save();
  Touch(labels, bytes, false);
  live_ -= bytes;
}

ReportCurve StackCurve::Take() {
  AdvanceTo(buckets_.count - 1);
  if (unsaved_most_) Save();
  return std::move(curve_);
}

void MostCurve::FillTo(std::size_t bucket) {
  while (bucket_ < bucket) most_[++bucket_] = now_;
}

void MostCurve::Set(std::uint64_t ns, std::uint64_t value) {
  FillTo(buckets_.Of(ns));
  now_ = value;
  most_[bucket_] = std::max(most_[bucket_], value);
}

std::vector<std::uint64_t> MostCurve::Take() {
  FillTo(buckets_.count - 1);
  return std::move(most_);
}

}  // namespace memoir
