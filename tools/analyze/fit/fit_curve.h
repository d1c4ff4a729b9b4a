// Peak memory as a function of a value in the command: the result of `memoir fit --vary`.
#ifndef TOOLS_ANALYZE_FIT_FIT_CURVE_H_
#define TOOLS_ANALYZE_FIT_FIT_CURVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analyze/fit/fit.h"

namespace memoir {

struct FitPoint {
  std::uint64_t value = 0;
  FitVerdict verdict = FitVerdict::kFailed;
  // Bytes that the program needs on a device. If the program does not fit, a run without the card's limit measures
  // them.
  std::optional<FitInterval> need;
  int exit_code = 0;
  bool barely = false;  // see FitsBarely()
};

struct FitCurve {
  std::string variable;   // "BATCH"
  std::string key, name;  // of the card, see FitCard
  std::string torch;      // version of torch; empty: unknown
  std::uint64_t memory = 0;
  std::uint64_t first = 0, last = 0, step = 1;
  std::vector<FitPoint> points;                           // all values that were tried, ascending
  std::optional<std::uint64_t> largest, next_that_fails;  // see LargestFit
  std::optional<FitCard> at_largest;                      // the complete result for the value `largest`
  std::vector<std::uint64_t> contradictions;              // values smaller than `largest` that did not fit
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_FIT_CURVE_H_
