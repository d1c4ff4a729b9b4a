// Copies files from many sources into a job's folder, from several sources at once.
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
  std::string job;      // absolute path of the job's folder, which must exist
  std::string command;  // copies files from hosts; from all sources if `for_all` is true
  bool for_all = false;
  std::string python;  // a Python with fsspec, for addresses; empty if there are no addresses
  std::size_t at_once = 8;
  std::function<void(const std::string&)> say;  // receives a line for each source that fails
};

// A request for the files of a source whose names match one of the patterns.
struct FileRequest {
  const CollectSource* source = nullptr;
  std::vector<std::string> patterns;
  bool anew = false;  // true: also requests files that the job's folder already has
};

struct TransferResult {
  std::vector<std::string> files;  // names of received files; recordings that the job's folder has are not received
  std::uint64_t bytes = 0;         // bytes of these files
  bool failed = false;
};

struct TransferResults {
  std::vector<TransferResult> of;  // in the order of `wanted`
  int interrupted = 0;             // the signal that ended the transfers early; 0: no signal
};

// Copies the files that `wanted` requests. Files appear in the job's folder only when they are complete, because they
// are first received in a temporary folder inside the job's folder. Files that are not regular, or were not requested,
// are removed with the temporary folder. A recording never replaces a longer recording. After an interruption the job's
// folder contains the files of all finished sources.
absl::StatusOr<TransferResults> TransferFiles(const InstallTree& tree, const std::vector<FileRequest>& wanted,
                                              const CollectOptions& options, const std::string& what);

}  // namespace memoir

#endif  // TOOLS_CLI_COLLECT_TRANSFERS_H_
