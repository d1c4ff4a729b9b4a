// The selected part of a capture in show and export: a window, a device, a rank.
#ifndef TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
#define TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/analyze/pass/window/selection.h"
#include "tools/cli/arguments/arguments.h"

namespace memoir {

inline constexpr char kStepsHelp[] =
    "only from step A up to step B: A:B; steps of memoir.step(), else of torch.profiler, else of the first optimizer, "
    "else calls of the outermost module";

// The values of the options as typed; "" if an option is not given.
struct SelectionArguments {
  std::string range;
  std::string steps;
  std::string from;
  std::string to;
  std::string device;
  std::optional<std::uint32_t> rank;
  bool forget_before = false;
  std::string module;
  std::string min_size;
  bool chooses_blocks() const { return !(module + min_size).empty(); }
  // Returns true if the whole recording is selected.
  bool takes_all() const {
    return !chooses_blocks() && !rank && !forget_before && (range + steps + from + to + device).empty();
  }
  std::string run = "last";
};

// Adds --from and --to to an app. `of`: the formats of `memoir export` that have the options, for their help; "": all.
void AddTimeOptions(CLI::App& app, SelectionArguments& arguments, const std::string& of);
// Adds --module and --min-size in the same way.
void AddBlockOptions(CLI::App& app, SelectionArguments& arguments, const std::string& of);
// "Only blocks of modules layers.3, of 1.0 MiB or more"; "" if all blocks are selected.
std::string ChosenBlocksLine(const Selection& selection);
// Adds the option --run, which selects one of several runs in a folder.
void AddRunOption(CLI::App& app, std::string& run);
// Describes an invalid value; empty if it is valid.
std::string RunComplaint(const std::string& run);
// Returns the number for Capture::Open. `run` must be valid.
std::uint32_t RunOf(const std::string& run);

// Describes an invalid time, run or choice of blocks; empty if all are valid.
std::string WindowComplaint(const SelectionArguments& arguments);

// `arguments` must be valid.
Selection SelectionOf(const SelectionArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
