#include "tools/view/time/time_scale.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr double kLeastQuiet = 0.08;  // a quiet piece has at least this part of the buckets
constexpr double kQuietWidth = 44, kTickRoom = 110, kTimeEnough = 60;

// Returns "1:30 h" if the step is a minute or more. Otherwise returns seconds with as many decimals as the step needs.
std::string TickText(double seconds, double step) {
  if (step >= kTimeEnough) {
    const auto minutes = static_cast<std::uint64_t>(std::llround(seconds / 60));
    return fmt::format("{}:{:02} h", minutes / 60, minutes % 60);
  }
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f} s", seconds, decimals);
}

// Returns a step of at least `least` seconds: 1, 2 or 5 times a power of ten; above 30 seconds, whole minutes.
double StepOfSeconds(double least) {
  for (const double minutes : {1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 360.0, 720.0, 1440.0, 2880.0, 7200.0, 14400.0}) {
    if (least > 30 && least <= minutes * 60) return minutes * 60;
  }
  const double decade = std::pow(10, std::floor(std::log10(std::max(least, 1e-9))));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (least <= times * decade * (1 + 1e-9)) return times * decade;
  }
  return 10 * decade;
}

}  // namespace

TimeScale::TimeScale(std::uint64_t begin_ns, std::uint64_t end_ns, const std::vector<bool>& changes, std::size_t first,
                     double left, double right)
    : begin_ns_(begin_ns), end_ns_(std::max(end_ns, begin_ns)), buckets_(std::max<std::size_t>(changes.size(), 1)) {
  Divide(changes, first < changes.size() ? first : 0);
  Place(left, right);
}

std::uint64_t TimeScale::NsOf(std::size_t bucket) const {
  const double part = static_cast<double>(bucket) / static_cast<double>(buckets_);
  return begin_ns_ + static_cast<std::uint64_t>(part * static_cast<double>(end_ns_ - begin_ns_));
}

// Divides the buckets into pieces. A quiet piece is long and has no bucket in which something changes.
void TimeScale::Divide(const std::vector<bool>& changes, std::size_t first) {
  const auto least = static_cast<std::size_t>(std::ceil(kLeastQuiet * static_cast<double>(buckets_ - first)));
  std::size_t begin = first;  // first bucket that is not in a piece yet
  for (std::size_t at = first; at < changes.size();) {
    std::size_t end = at;
    while (end < changes.size() && !changes[end]) ++end;
    if (end - at >= std::max<std::size_t>(least, 3)) {
      if (at > begin) pieces_.push_back({begin, at, false});
      pieces_.push_back({at, end, true});
      begin = end;
    }
    at = end + 1;
  }
  if (begin < buckets_) pieces_.push_back({begin, buckets_, false});
  if (std::ranges::all_of(pieces_, &Piece::quiet)) pieces_ = {{first, buckets_, false}};
}

void TimeScale::Place(double left, double right) {
  std::size_t active = 0, quiet = 0;
  for (const Piece& piece : pieces_) (piece.quiet ? quiet : active) += piece.quiet ? 1 : piece.end - piece.begin;
  const double gap = std::min(kQuietWidth, (right - left) / static_cast<double>(2 * quiet + 1));
  const double width = std::max(right - left - static_cast<double>(quiet) * gap, 1.0);
  double at = left;
  for (Piece& piece : pieces_) {
    const double share = static_cast<double>(piece.end - piece.begin) / static_cast<double>(active);
    piece.left = at;
    piece.right = at += piece.quiet ? gap : width * share;
  }
  const double ns = static_cast<double>(end_ns_ - begin_ns_) * static_cast<double>(active);
  ns_per_pixel_ = std::max(ns / static_cast<double>(buckets_) / width, 1e-3);
}

double TimeScale::X(std::uint64_t ns) const {
  for (const Piece& piece : pieces_) {
    const std::uint64_t begin = NsOf(piece.begin), end = NsOf(piece.end);
    if (ns > end && &piece != &pieces_.back()) continue;
    const double length = std::max<double>(static_cast<double>(end - begin), 1);
    const double part = std::clamp((static_cast<double>(ns) - static_cast<double>(begin)) / length, 0.0, 1.0);
    return piece.left + part * (piece.right - piece.left);
  }
  return pieces_.back().right;
}

double TimeScale::BucketAt(double x) const {
  auto piece = std::ranges::find_if(pieces_, [&](const Piece& one) { return x < one.right; });
  if (piece == pieces_.end()) --piece;
  const double part = std::clamp((x - piece->left) / std::max(piece->right - piece->left, 1e-6), 0.0, 1.0);
  return static_cast<double>(piece->begin) + part * static_cast<double>(piece->end - piece->begin);
}

// A column on the border between two pieces shows the end of the first and the begin of the second, so that each bucket
// is shown.
std::pair<std::size_t, std::size_t> TimeScale::BucketsAt(double x) const {
  const std::size_t first = std::min(static_cast<std::size_t>(BucketAt(x)), buckets_ - 1);
  return {first, std::clamp(static_cast<std::size_t>(std::ceil(BucketAt(x + 1))), first + 1, buckets_)};
}

std::vector<TimeScale::Gap> TimeScale::Gaps() const {
  std::vector<Gap> gaps;
  for (const Piece& piece : pieces_) {
    if (piece.quiet) gaps.push_back({piece.left, piece.right, NsOf(piece.end) - NsOf(piece.begin)});
  }
  return gaps;
}

std::vector<TimeScale::AxisTick> TimeScale::Ticks() const {
  const double step = StepOfSeconds(kTickRoom * ns_per_pixel_ / 1e9);
  std::vector<AxisTick> ticks = {{pieces_.front().left, FormatMoment(begin_ns())}};
  for (const Piece& piece : pieces_) {
    if (piece.quiet) continue;
    const double begin = static_cast<double>(NsOf(piece.begin)) / 1e9, end = static_cast<double>(NsOf(piece.end)) / 1e9;
    const double first = std::ceil(begin / step - 1e-9);
    // Bounds the loop, even if times are impossible.
    const auto most = static_cast<int>((piece.right - piece.left) / kTickRoom) + 2;
    for (int i = 0; i < most; ++i) {
      const double at = (first + i) * step;
      if (at > end * (1 + 1e-12)) break;
      const double x = piece.left + (end > begin ? (at - begin) / (end - begin) : 0) * (piece.right - piece.left);
      if (x - ticks.back().x >= kTickRoom * 0.7) ticks.push_back({x, TickText(at, step)});
    }
  }
  return ticks;
}

}  // namespace memoir
