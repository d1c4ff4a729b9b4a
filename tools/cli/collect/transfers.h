// Brings files from many sources into a job's folder, several sources at once.
#ifndef TOOLS_CLI_COLLECT_TRANSFERS_H_
#define TOOLS_CLI_COLLECT_TRANSFERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/collect/source.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct CollectOptions {
  std::string job;      // absolute; is there
  std::string command;  // of hosts, and of all where `for_all`
  bool for_all = false;
  std::string python;  // with fsspec, for addresses; "" where none is needed
  std::size_t at_once = 8;
  std::function<void(const std::string&)> say;  // a line for each source that fails
};

// What is asked of a source: files whose names match one of these.
struct Wanted {
  const Source* source = nullptr;
  std::vector<std::string> patterns;
  bool anew = false;  // also what is in the job's folder already
};

struct Brought {
  std::vector<std::string> files;  // that came, by name; recordings that were there are not read again
  std::uint64_t bytes = 0;         // of these
  bool failed = false;
};

struct BroughtAll {
  std::vector<Brought> of;  // as `wanted`
  int interrupted = 0;      // the signal that ended it early
};

// Files appear in the job's folder whole: they come into a folder beside them first. What comes and is no regular file,
// or was not asked for, is left there and goes with it. A recording never takes the place of a longer one. When it is
// interrupted, what those sources sent that had ended is in the job's folder.
absl::StatusOr<BroughtAll> Bring(const InstallTree& tree, const std::vector<Wanted>& wanted,
                                 const CollectOptions& options, const std::string& what);

}  // namespace memoir

#endif  // TOOLS_CLI_COLLECT_TRANSFERS_H_
