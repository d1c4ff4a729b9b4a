// Every node of a tree by itself, in the order of their begins: each range, each call of a module or of a Python
// function (but those of Memoir's own package), and each thing that happened to memory, inside what stands around it.
//
// Goes through the recording twice, since a node is shown when it begins with what is known at its end. Takes 40 bytes
// for each range and call in the window; names and events stay in the files.
#ifndef TOOLS_ANALYZE_TREE_TREE_STREAM_H_
#define TOOLS_ANALYZE_TREE_TREE_STREAM_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/analyze/tree/streamed_node.h"
#include "tools/model/capture.h"

namespace memoir {

struct TreeStreamOptions : Selection {
  static constexpr std::size_t kMostNodes = std::size_t{1} << 25;
  bool memory = true;           // show it
  std::string thread;           // number or name of the only one that counts; "": all
  SeeDeviceChange see_change;   // may be empty; of all threads, whatever `thread` is
  SeeKernelRun see_run;         // may be empty; in the window or not, whatever launched it
  SeeMarkInWindow see_mark;     // may be empty; of the threads that count
  std::function<bool()> go_on;  // as ReplayOptions::go_on; may be empty
};

// Ranges and calls that are open where the window begins come first, with the begin that they had. NotFound: the
// selection or the thread does not occur. ResourceExhausted: more than kMostNodes ranges and calls.
absl::StatusOr<ReplayReport> StreamTree(const Capture& capture, const TreeStreamOptions& options, const SeeNode& see);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_TREE_STREAM_H_
