#include "tools/analyze/ranks/odd_rank.h"

namespace memoir {

std::string_view ToString(OddFigure figure) {
  switch (figure) {
    case OddFigure::kGrowth:
      return "growth";
    case OddFigure::kAllocated:
      return "allocated";
    case OddFigure::kBetween:
      return "between_steps";
    case OddFigure::kBuckets:
      return "ddp_buckets";
    case OddFigure::kReserved:
      return "reserved";
    case OddFigure::kOutside:
      return "outside_torch";
    case OddFigure::kAtEnd:
      return "at_end";
    case OddFigure::kRose:
      return "rose";
    case OddFigure::kKilled:
      return "killed";
    case OddFigure::kFailed:
      return "failed";
    case OddFigure::kLeft:
      return "left";
    case OddFigure::kSteps:
      return "steps";
  }
  return "";
}

}  // namespace memoir
