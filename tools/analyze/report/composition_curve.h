// The live bytes of a device in buckets of time: the maximum of each bucket, and its composition. Both are computed in
// one pass, with a few look-ups for each change.
//
// A composition is stored only when the bytes fall after a new maximum of their bucket, or when the bucket ends. Only
// the entries that changed since the last stored composition are stored.
#ifndef TOOLS_ANALYZE_REPORT_COMPOSITION_CURVE_H_
#define TOOLS_ANALYZE_REPORT_COMPOSITION_CURVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analyze/report/report_content.h"

namespace memoir {

// Equal parts of the time from `begin_ns` to `end_ns`. Earlier times are in the first bucket, later ones in the last.
struct TimeBuckets {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::size_t count = 1;

  std::size_t BucketOf(std::uint64_t ns) const;
  std::uint64_t BeginOf(std::size_t bucket) const;
};

class CompositionCurve {
 public:
  using Labels = std::array<LabelNumber, kReportGroupingCount>;
  explicit CompositionCurve(const TimeBuckets& buckets);

  void Add(std::uint64_t ns, std::uint64_t bytes, const Labels& labels);
  void Remove(std::uint64_t ns, std::uint64_t bytes, const Labels& labels);
  std::uint64_t live() const { return live_; }
  // Returns the curve. In the buckets after the newest change, the live bytes stay as they are now.
  ReportCurve Take();

 private:
  struct Composition {
    std::vector<std::uint64_t> now;           // bytes by label
    std::vector<bool> is_unsaved;             // by label: its bytes changed after a composition was last stored
    std::vector<LabelNumber> unsaved;         // the labels for which is_unsaved is true
    std::vector<std::uint64_t> saved_bucket;  // by label: 1 + the last bucket with an entry of the label; 0: no entry
    std::vector<std::uint32_t> saved_at;      // by label: index of this entry in the bucket's `changes`
  };
  void AdvanceTo(std::size_t bucket);
  void Save();
  void Touch(const Labels& labels, std::uint64_t bytes, bool more);

  const TimeBuckets buckets_;
  std::size_t bucket_ = 0;
  std::uint64_t live_ = 0;
  bool unsaved_most_ = false;  // `live_` is the bucket's maximum, and its composition is not stored yet
  ReportCurve curve_;
  std::array<Composition, kReportGroupingCount> compositions_;
};

// The maximum of a value in each bucket.
class MostCurve {
 public:
  explicit MostCurve(const TimeBuckets& buckets) : buckets_(buckets), most_(buckets.count) {}
  void Set(std::uint64_t ns, std::uint64_t value);
  std::vector<std::uint64_t> Take();

 private:
  void FillTo(std::size_t bucket);

  const TimeBuckets buckets_;
  std::size_t bucket_ = 0;
  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> most_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_COMPOSITION_CURVE_H_
