// The names of a profiler's trace as the numbers of a capture: operators, ranges, frames, stacks and modules, each
// defined at its first use.
#ifndef TOOLS_IMPORT_PROFILER_NAMES_H_
#define TOOLS_IMPORT_PROFILER_NAMES_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/capture_writer.h"
#include "tools/import/profiler_trace.h"

namespace memoir {

// "aten::mm": an operator; not "autograd::engine::evaluate_function: MmBackward0", nor "MmBackward0".
bool IsOperatorName(std::string_view name);

class ProfilerNames {
 public:
  using Number = ProfilerTrace::Number;
  struct Module {
    std::string root, path;
    std::uint32_t number = 0;  // in the capture
  };

  // Both must outlive it.
  ProfilerNames(const ProfilerTrace& trace, CaptureWriter& writer)
      : trace_(trace), writer_(writer), names_(trace.texts.size()) {}

  std::uint32_t OperatorOf(Number name);  // or what else runs
  std::uint32_t TextOf(Number name);
  // Of a function "train.py(12): forward" that was called from `around` (0: from nothing).
  std::uint32_t StackOf(std::uint32_t around, Number name);
  // Of "Linear_0", called inside the module `around` (0: inside none), which this gave. A number of its own.
  std::size_t ModuleOf(std::size_t around, Number name);
  const Module& module(std::size_t number) const { return modules_[number]; }

 private:
  struct Code {
    std::uint32_t number = 0, line = 0;
  };
  Code CodeOf(Number name);

  const ProfilerTrace& trace_;
  CaptureWriter& writer_;
  std::vector<std::uint32_t> names_;  // by text; 0: not yet. Each text is of one kind
  absl::flat_hash_map<Number, Code> codes_;
  absl::flat_hash_map<Number, std::uint32_t> texts_;
  absl::flat_hash_map<std::pair<std::uint32_t, Number>, std::uint32_t> stacks_;
  absl::flat_hash_map<std::pair<std::size_t, Number>, std::size_t> module_numbers_;
  std::vector<Module> modules_ = {{}};
  std::size_t all_path_bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_PROFILER_NAMES_H_
