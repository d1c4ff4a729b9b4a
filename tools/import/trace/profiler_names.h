// Defines the names of a profiler trace in the capture, each at its first use: operators, ranges, frames, stacks and
// modules.
#ifndef TOOLS_IMPORT_TRACE_PROFILER_NAMES_H_
#define TOOLS_IMPORT_TRACE_PROFILER_NAMES_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/files/part_writer.h"
#include "tools/import/trace/profiler_trace.h"

namespace memoir {

// Returns true for "aten::mm", but not for "autograd::engine::evaluate_function: MmBackward0" or "MmBackward0".
bool IsOperatorName(std::string_view name);

class ProfilerNames {
 public:
  using Index = ProfilerTrace::Index;
  struct Module {
    std::string root, path;
    std::uint32_t number = 0;  // number in the capture
  };

  // `trace` and `writer` must outlive this object.
  ProfilerNames(const ProfilerTrace& trace, PartWriter& writer)
      : trace_(trace), writer_(writer), names_(trace.texts.size()) {}

  std::uint32_t OperatorOf(Index name);  // defines a text if `name` is not an operator's name
  std::uint32_t TextOf(Index name);
  // Returns the stack of a function "train.py(12): forward" that was called from the stack `around`. 0 for `around`:
  // the function is the outermost.
  std::uint32_t StackOf(std::uint32_t around, Index name);
  // Returns the number of the module "Linear_0" that was called inside of the module `around`. `around` is an earlier
  // result of this function, or 0 outside of modules.
  std::size_t ModuleOf(std::size_t around, Index name);
  const Module& module(std::size_t number) const { return modules_[number]; }

 private:
  struct Code {
    std::uint32_t number = 0, line = 0;
  };
  Code CodeOf(Index name);

  const ProfilerTrace& trace_;
  PartWriter& writer_;
  std::vector<std::uint32_t> names_;  // numbers of operator names, by text; 0: not defined yet
  absl::flat_hash_map<Index, Code> codes_;
  absl::flat_hash_map<Index, std::uint32_t> texts_;
  absl::flat_hash_map<std::pair<std::uint32_t, Index>, std::uint32_t> stacks_;
  absl::flat_hash_map<std::pair<std::size_t, Index>, std::size_t> module_numbers_;
  std::vector<Module> modules_ = {{}};
  std::size_t all_path_bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_PROFILER_NAMES_H_
