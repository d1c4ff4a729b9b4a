// The time axis of a picture. It begins with the first allocation, and spans without changes are shortened, so that the
// program's activity has more room.
#ifndef TOOLS_VIEW_TIME_TIME_SCALE_H_
#define TOOLS_VIEW_TIME_TIME_SCALE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memoir {

class TimeScale {
 public:
  // Places equal buckets from `begin_ns` to `end_ns` on the pixels from `left` to `right`. `changes`: for each bucket,
  // whether something changed in it. Buckets before `first` are left out.
  TimeScale(std::uint64_t begin_ns, std::uint64_t end_ns, const std::vector<bool>& changes, std::size_t first,
            double left, double right);

  std::uint64_t begin_ns() const { return NsOf(pieces_.front().begin); }
  std::uint64_t end_ns() const { return end_ns_; }
  double X(std::uint64_t ns) const;
  // Returns the buckets [first, second) that the pixel column from `x` to `x + 1` shows; at least one.
  std::pair<std::size_t, std::size_t> BucketsAt(double x) const;

  struct Gap {
    double left, right;
    std::uint64_t ns;  // the time that the gap stands for
  };
  std::vector<Gap> Gaps() const;

  struct AxisTick {
    double x;
    std::string text;
  };
  // Returns ticks at the beginning and at round times, far enough apart for their texts.
  std::vector<AxisTick> Ticks() const;

 private:
  struct Piece {
    std::size_t begin, end;  // buckets
    bool quiet;
    double left = 0, right = 0;
  };
  std::uint64_t NsOf(std::size_t bucket) const;
  double BucketAt(double x) const;
  void Divide(const std::vector<bool>& changes, std::size_t first);
  void Place(double left, double right);

  const std::uint64_t begin_ns_, end_ns_;
  const std::size_t buckets_;
  std::vector<Piece> pieces_;  // at least one
  double ns_per_pixel_ = 1;    // in pieces that are not quiet
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_TIME_SCALE_H_
