// Peak against a value that the command was given: what `memoir fit --vary` found.
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
  std::optional<FitInterval> need;  // bytes of the device; of one that does not fit: without the card's limit
  int exit_code = 0;
  bool barely = false;  // it fits, with less to spare than the tables are exact to
};

struct FitCurve {
  std::string variable;  // "BATCH"
  std::string key, name;
  std::string torch;  // its version; "": not known
  std::uint64_t memory = 0;
  std::uint64_t first = 0, last = 0, step = 1;
  std::vector<FitPoint> points;  // all that were tried, ascending
  std::optional<std::uint64_t> largest, next_that_fails;
  std::optional<FitCard> at_largest;          // the answer for `largest`, with all that is to be said of it
  std::vector<std::uint64_t> contradictions;  // smaller than `largest`, and did not fit
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_FIT_CURVE_H_
