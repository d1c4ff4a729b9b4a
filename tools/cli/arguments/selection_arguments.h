// The part of a capture that show and export are asked for: a window, a device, a rank.
#ifndef TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
#define TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/analyze/pass/options.h"
#include "tools/cli/arguments/arguments.h"

namespace memoir {

inline constexpr char kStepsHelp[] =
    "only from step A up to step B: A:B; steps of memoir.step(), else of torch.profiler, else of the first optimizer, "
    "else calls of the outermost module";

// As typed; "": not given.
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
  // No part of a recording, but all of it.
  bool takes_all() const {
    return !chooses_blocks() && !rank && !forget_before && (range + steps + from + to + device).empty();
  }
  std::string run = "last";
};

// Adds --from and --to to an app, for the form that `of` names; "": for all of the verb.
void AddTimes(CLI::App& app, SelectionArguments& arguments, const std::string& of);
// Adds --module and --min-size, likewise.
void AddBlockChoice(CLI::App& app, SelectionArguments& arguments, const std::string& of);
// "Only blocks of modules layers.3, of 1.0 MiB or more"; "" where all blocks are shown.
std::string ChosenBlocksLine(const Selection& selection);
// Adds --run to an app: of the runs in a folder that was used again, which.
void AddRun(CLI::App& app, std::string& run);
// What is wrong with it; "" when all is well.
std::string RunComplaint(const std::string& run);
// As Capture::Open has it, of one without a complaint.
std::uint32_t RunOf(const std::string& run);

// What is wrong with the window, the run or the choice of blocks; "" when all is well.
std::string WindowComplaint(const SelectionArguments& arguments);

// Of arguments without a complaint.
Selection SelectionOf(const SelectionArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
