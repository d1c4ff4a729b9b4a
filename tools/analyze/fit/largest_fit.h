// Which values to try in order to find the largest that fits: first a few over the whole range, then the gap between
// the largest that fitted and the next that did not is cut, until nothing lies in between.
//
// Fitting need not be monotonic (a batch that the allocator cuts badly): all that was tried is kept, and whether a
// smaller value did not fit is said. Pure; one thread.
#ifndef TOOLS_ANALYZE_FIT_LARGEST_FIT_H_
#define TOOLS_ANALYZE_FIT_LARGEST_FIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace memoir {

enum class FitOutcome : std::uint8_t { kFits, kDoesNotFit, kFailed };  // kFailed: for another reason; bounds nothing

class LargestFit {
 public:
  // Values first, first + step, ... up to `last`; first <= last, step > 0.
  LargestFit(std::uint64_t first, std::uint64_t last, std::uint64_t step);

  // The next values to try, in ascending order; each is given once, and the next call expects the outcomes of all. At
  // most `most`, which is the number that run at once, after the first call. Empty: done.
  std::vector<std::uint64_t> Next(std::size_t most);
  void Add(std::uint64_t value, FitOutcome outcome);

  const std::map<std::uint64_t, FitOutcome>& tried() const { return tried_; }
  std::optional<std::uint64_t> largest() const;          // of those that fitted
  std::optional<std::uint64_t> next_that_fails() const;  // the smallest above it, or of all, that does not fit
  // Smaller than largest(), and did not fit.
  std::vector<std::uint64_t> contradictions() const;

 private:
  std::uint64_t Value(std::uint64_t index) const { return first_ + index * step_; }
  std::uint64_t Index(std::uint64_t value) const { return (value - first_) / step_; }
  std::vector<std::uint64_t> Grid() const;

  const std::uint64_t first_, step_, count_;
  std::map<std::uint64_t, FitOutcome> tried_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_LARGEST_FIT_H_
