// Who holds what leaks, where the process has looked for that itself (`run --holders`, model/holder_note.h): of the
// blocks that a leak's line made and that are live when the newest step begins, what was found last of each until then;
// of those of which nothing was found until then, what was found first behind it.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_HOLDERS_H_
#define TOOLS_ANALYZE_LIVES_LEAK_HOLDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct LeakHolder {
  std::string name;                     // "losses[...] (list, global of train.py)", with nodes of autograd behind it
  std::uint64_t bytes = 0, blocks = 0;  // that this was found of: some of what the leak keeps, or all
};

struct LeakHolders {
  bool looked = false;                       // the process has, and found something
  std::vector<std::vector<LeakHolder>> all;  // of each leak, in the order of Leaks::leaks: most bytes first
};

// In another replay, where there are leaks. `leaks`: of AnalyzeLeaks with the same selection.
absl::StatusOr<LeakHolders> FindLeakHolders(const Capture& capture, const Selection& selection, const Leaks& leaks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_HOLDERS_H_
