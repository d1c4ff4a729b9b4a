// The holders of leaked blocks, if the process searched for holders while it ran (`run --holders`,
// model/holder_note.h). The holder of a block is the last holder that was found before the newest step began. If no
// holder was found before, it is the first holder that was found afterwards. For a leak of kind kKept, a holder is left
// out if all blocks that it holds were allocated in the first step, because the bytes that it holds do not grow.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_HOLDERS_H_
#define TOOLS_ANALYZE_LIVES_LEAK_HOLDERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct LeakHolder {
  std::string name;                     // "losses[...] (list, global of train.py)", followed by autograd nodes
  std::uint64_t bytes = 0, blocks = 0;  // bytes and number of the leaked blocks for which this holder was found
};

// Returns the root of a holder: the name of the Python object, without the autograd nodes between this object and the
// block. It is the part before " → ".
inline std::string_view RootOf(std::string_view holder) { return holder.substr(0, holder.find(" \xe2\x86\x92 ")); }

struct LeakHolders {
  bool looked = false;                       // true: the process searched for holders and found some
  std::vector<std::vector<LeakHolder>> all;  // by index in Leaks::leaks; most bytes first
};

// Needs one replay if there are leaks. `leaks`: the result of LeakPass with the same selection. The arguments must
// outlive the task.
Task<absl::StatusOr<LeakHolders>> FindLeakHolders(JointReplays& replays, const Selection& selection,
                                                  const Leaks& leaks);

// The leaks with their causes, and their holders.
struct LeakAnswer {
  Leaks leaks;
  LeakHolders holders;
};
// Needs two replays. If there are leaks, a third replay finds their causes and holders.
Task<absl::StatusOr<LeakAnswer>> AnalyzeLeaks(SharedCategories& shared, Selection selection);
absl::StatusOr<LeakAnswer> AnalyzeLeaks(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_HOLDERS_H_
