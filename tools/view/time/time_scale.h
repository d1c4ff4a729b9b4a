// The time axis of a picture: from the first allocation on, and stretches in which nothing changes cut short, so that
// what a program does has the room.
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
  // Of equal buckets from `begin_ns` to `end_ns`, on the pixels from `left` to `right`. `changes`: of each bucket,
  // whether something happened in it; what lies before `first` is left out.
  TimeScale(std::uint64_t begin_ns, std::uint64_t end_ns, const std::vector<bool>& changes, std::size_t first,
            double left, double right);

  std::uint64_t begin_ns() const { return NsOf(pieces_.front().begin); }
  std::uint64_t end_ns() const { return end_ns_; }
  double X(std::uint64_t ns) const;
  // The buckets [first, second) that the pixel column from `x` to `x + 1` shows, at least one.
  std::pair<std::size_t, std::size_t> BucketsAt(double x) const;

  struct Gap {
    double left, right;
    std::uint64_t ns;  // that are cut short
  };
  std::vector<Gap> Gaps() const;

  struct Tick {
    double x;
    std::string text;
  };
  // At the begin, and then at round times, far enough from each other to be written out.
  std::vector<Tick> Ticks() const;

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
  double ns_per_pixel_ = 1;    // of those that are not quiet
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TIME_TIME_SCALE_H_
