#include "tools/analyze/report/composition_curve.h"

#include <algorithm>
#include <utility>

namespace memoir {

std::size_t TimeBuckets::BucketOf(std::uint64_t ns) const {
  if (ns <= begin_ns || end_ns <= begin_ns) return 0;
  const double place = static_cast<double>(ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
  return std::min(count - 1, static_cast<std::size_t>(place * static_cast<double>(count)));
}

std::uint64_t TimeBuckets::BeginOf(std::size_t bucket) const {
  const double place = static_cast<double>(bucket) / static_cast<double>(count);
  return begin_ns + static_cast<std::uint64_t>(place * static_cast<double>(end_ns - begin_ns));
}

CompositionCurve::CompositionCurve(const TimeBuckets& buckets) : buckets_(buckets) {
  curve_.most.resize(buckets.count);
  curve_.most_ns.resize(buckets.count, buckets.begin_ns);
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    if (kReportGroupings[i].stacked) curve_.changes[i].resize(buckets.count);
  }
}

void CompositionCurve::Save() {
  unsaved_most_ = false;
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    Composition& composition = compositions_[i];
    for (const LabelNumber label : composition.unsaved) {
      std::vector<ReportCurve::Change>& changes = curve_.changes[i][bucket_];
      if (composition.saved_bucket[label] != bucket_ + 1) {
        composition.saved_bucket[label] = bucket_ + 1;
        composition.saved_at[label] = static_cast<std::uint32_t>(changes.size());
        changes.push_back({label, 0});
      }
      changes[composition.saved_at[label]].bytes = composition.now[label];
      composition.is_unsaved[label] = false;
    }
    composition.unsaved.clear();
  }
}

// A value lasts until the next change, so all buckets in between have it.
void CompositionCurve::AdvanceTo(std::size_t bucket) {
  while (bucket_ < bucket) {
    if (unsaved_most_) Save();
    ++bucket_;
    curve_.most[bucket_] = live_;
    curve_.most_ns[bucket_] = buckets_.BeginOf(bucket_);
    unsaved_most_ = true;
  }
}

void CompositionCurve::Touch(const Labels& labels, std::uint64_t bytes, bool more) {
  for (std::size_t i = 0; i < kReportGroupingCount; ++i) {
    if (!kReportGroupings[i].stacked) continue;
    Composition& composition = compositions_[i];
    const LabelNumber label = labels[i];
    if (label >= composition.now.size()) {
      composition.now.resize(label + std::size_t{1});
      composition.is_unsaved.resize(composition.now.size());
      composition.saved_bucket.resize(composition.now.size());
      composition.saved_at.resize(composition.now.size());
    }
    composition.now[label] += more ? bytes : 0 - bytes;
    if (composition.is_unsaved[label]) continue;
    composition.is_unsaved[label] = true;
    composition.unsaved.push_back(label);
  }
}

void CompositionCurve::Add(std::uint64_t ns, std::uint64_t bytes, const Labels& labels) {
  AdvanceTo(buckets_.BucketOf(ns));
  Touch(labels, bytes, true);
  live_ += bytes;
  if (live_ <= curve_.most[bucket_]) return;
  curve_.most[bucket_] = live_;
  curve_.most_ns[bucket_] = ns;
  unsaved_most_ = true;
}

void CompositionCurve::Remove(std::uint64_t ns, std::uint64_t bytes, const Labels& labels) {
  AdvanceTo(buckets_.BucketOf(ns));
  if (unsaved_most_) Save();
  Touch(labels, bytes, false);
  live_ -= bytes;
}

ReportCurve CompositionCurve::Take() {
  AdvanceTo(buckets_.count - 1);
  if (unsaved_most_) Save();
  return std::move(curve_);
}

void MostCurve::FillTo(std::size_t bucket) {
  while (bucket_ < bucket) most_[++bucket_] = now_;
}

void MostCurve::Set(std::uint64_t ns, std::uint64_t value) {
  FillTo(buckets_.BucketOf(ns));
  now_ = value;
  most_[bucket_] = std::max(most_[bucket_], value);
}

std::vector<std::uint64_t> MostCurve::Take() {
  FillTo(buckets_.count - 1);
  return std::move(most_);
}

}  // namespace memoir
