// Chooses the values to try in a search for the largest value that fits. The first values cover the whole range. The
// next values divide the gap between the largest value that fitted and the next value that did not fit, until the gap
// is empty.
//
// A smaller value may fail although a larger one fits, because the allocator may fragment memory more with a smaller
// batch. contradictions() returns such values. Does no I/O. Use each object on one thread only.
#ifndef TOOLS_ANALYZE_FIT_LARGEST_FIT_H_
#define TOOLS_ANALYZE_FIT_LARGEST_FIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace memoir {

// kFailed: the run failed for a reason other than memory, so it does not bound the answer.
enum class FitOutcome : std::uint8_t { kFits, kDoesNotFit, kFailed };

class LargestFit {
 public:
  // The possible values are first, first + step, ... up to `last`. Requires first <= last and step > 0.
  LargestFit(std::uint64_t first, std::uint64_t last, std::uint64_t step);

  // Returns the next values to try, in ascending order. Empty if the search is done. Returns each value once. Before
  // the next call, Add() must be called for all returned values. `most`: the number of runs at a time; every call
  // except for the first returns at most this many values.
  std::vector<std::uint64_t> ChooseValues(std::size_t most);
  void Add(std::uint64_t value, FitOutcome outcome);

  const std::map<std::uint64_t, FitOutcome>& tried() const { return tried_; }
  std::optional<std::uint64_t> largest() const;  // the largest value that fitted
  // The smallest value above largest() that did not fit. If no value fitted, the smallest value that did not fit.
  std::optional<std::uint64_t> next_that_fails() const;
  // Returns the values smaller than largest() that did not fit.
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
