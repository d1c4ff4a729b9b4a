// The part of a capture that show and export are asked for: a window, a device, a rank.
#ifndef TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
#define TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/analyze/pass/options.h"

namespace memoir {

inline constexpr char kStepsHelp[] =
    "only from step A up to step B: A:B; steps of memoir.step(), else of torch.profiler, else of the first optimizer, "
    "else calls of the outermost module";

// As typed; "": not given.
struct SelectionArguments {
  std::string range;
  std::string steps;
  std::string device;
  std::optional<std::uint32_t> rank;
  bool forget_before = false;
};

// What is wrong with the window; "" when all is well.
std::string WindowComplaint(const SelectionArguments& arguments);

// Of arguments without a complaint.
Selection SelectionOf(const SelectionArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
