// The main cause of a difference, which `memoir diff` prints in its first line.
#ifndef TOOLS_ANALYZE_COMPARE_MAIN_CAUSE_H_
#define TOOLS_ANALYZE_COMPARE_MAIN_CAUSE_H_

#include <vector>

#include "tools/analyze/compare/matched_parts.h"

namespace memoir {

MainCause MainCauseOf(const std::vector<MatchedPart>& parts);
// Returns the cause of a difference in reserved bytes. The category of a part is its ReservedPlace. If one place other
// than the default pool makes up most of the difference, the cause is found among the parts of this place alone.
MainCause ReservedCauseOf(const std::vector<MatchedPart>& parts);
// Returns the factor that at least three rows share, if these rows make up most of the difference. Otherwise 0. `rows`
// may have any grouping.
CommonFactor CommonFactorOf(const std::vector<ComparedRow>& rows);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MAIN_CAUSE_H_
