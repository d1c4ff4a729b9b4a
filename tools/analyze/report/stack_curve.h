// Live bytes of a device in buckets of time: the most of each bucket, and what it was made of at that instant. One
// pass, at a few look-ups for each change.
//
// A composition is written down only when the bytes go down after a new maximum of their bucket, and only as far as it
// changed.
#ifndef TOOLS_ANALYZE_REPORT_STACK_CURVE_H_
#define TOOLS_ANALYZE_REPORT_STACK_CURVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analyze/report/report.h"

namespace memoir {

// Equal parts of the time from `begin_ns` up to `end_ns`; what lies outside is in the first or last.
struct Buckets {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::size_t count = 1;

  std::size_t Of(std::uint64_t ns) const;
  std::uint64_t BeginOf(std::size_t bucket) const;
};

class StackCurve {
 public:
  using Labels = std::array<LabelNumber, kReportGroupingCount>;
  explicit StackCurve(const Buckets& buckets);

  void Add(std::uint64_t ns, std::uint64_t bytes, const Labels& labels);
  void Remove(std::uint64_t ns, std::uint64_t bytes, const Labels& labels);
  std::uint64_t live() const { return live_; }
  ReportCurve Take();  // what is live now lasts until the end

 private:
  struct Stack {
    std::vector<std::uint64_t> now;           // by label
    std::vector<bool> is_unsaved;             // by label: it changed since the composition was written down last
    std::vector<LabelNumber> unsaved;         // those labels
    std::vector<std::uint64_t> saved_bucket;  // by label: whose list has it last, + 1
    std::vector<std::uint32_t> saved_at;      // where in that list
  };
  void AdvanceTo(std::size_t bucket);
  void Save();
  void Touch(const Labels& labels, std::uint64_t bytes, bool more);

  const Buckets buckets_;
  std::size_t bucket_ = 0;
  std::uint64_t live_ = 0;
  bool unsaved_most_ = false;  // `live_` is the bucket's most, and its composition is not written down
  ReportCurve curve_;
  std::array<Stack, kReportGroupingCount> stacks_;
};

// A value in the same buckets: the most of each.
class MostCurve {
 public:
  explicit MostCurve(const Buckets& buckets) : buckets_(buckets), most_(buckets.count) {}
  void Set(std::uint64_t ns, std::uint64_t value);
  std::vector<std::uint64_t> Take();

 private:
  void FillTo(std::size_t bucket);

  const Buckets buckets_;
  std::size_t bucket_ = 0;
  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> most_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_REPORT_STACK_CURVE_H_
