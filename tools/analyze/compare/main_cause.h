// What the first line of `memoir diff` names.
#ifndef TOOLS_ANALYZE_COMPARE_MAIN_CAUSE_H_
#define TOOLS_ANALYZE_COMPARE_MAIN_CAUSE_H_

#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

MainCause MainCauseOf(const std::vector<MatchedPart>& parts);
// Of segments, whose category is their place: where one place beside the default pool is most of it, of that one.
MainCause ReservedCauseOf(const std::vector<MatchedPart>& parts);
// Of rows of any grouping: at least three, and most of the difference.
CommonFactor CommonFactorOf(const std::vector<ComparedRow>& rows);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MAIN_CAUSE_H_
