// Brings files from many sources into a job's folder, several sources at once.
#ifndef TOOLS_CLI_COLLECT_TRANSFERS_H_
#define TOOLS_CLI_COLLECT_TRANSFERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/collect/collect_source.h"
#include "tools/cli/installed/install_tree.h"

namespace memoir {

struct CollectOptions {
  std::string job;      // absolute; must exist
  std::string command;  // for hosts, and for all sources if `for_all`
  bool for_all = false;
  std::string python;  // with fsspec, for addresses; empty if it is not needed
  std::size_t at_once = 8;
  std::function<void(const std::string&)> say;  // gets a line for each source that fails
};

// Requests files from a source: those whose names match one of the patterns.
struct FileRequest {
  const CollectSource* source = nullptr;
  std::vector<std::string> patterns;
  bool anew = false;  // also requests what the job's folder already has
};

struct TransferResult {
  std::vector<std::string> files;  // names of received files; existing recordings are not read again
  std::uint64_t bytes = 0;         // of these files
  bool failed = false;
};

struct TransferResults {
  std::vector<TransferResult> of;  // in the order of `wanted`
  int interrupted = 0;      // the signal that ended it early
};

// Files appear in the job's folder complete: they are received in a temporary folder next to it first. Other files than
// regular, requested ones stay there and are removed with it. A recording never replaces a longer one. After an
// interruption the job's folder contains the files of all finished sources.
absl::StatusOr<TransferResults> TransferFiles(const InstallTree& tree, const std::vector<FileRequest>& wanted,
                                              const CollectOptions& options, const std::string& what);

}  // namespace memoir

#endif  // TOOLS_CLI_COLLECT_TRANSFERS_H_
