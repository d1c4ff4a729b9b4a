// The options of show, export and other verbs that select a part of a capture: a window, a device, a rank, blocks.
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

// Adds the options --from and --to to `app`. `of`: the formats of `memoir export` to which the options apply, for the
// help text; "" if the options apply to all output of the verb.
void AddTimeOptions(CLI::App& app, SelectionArguments& arguments, const std::string& of);
// Adds the options --module and --min-size. `of`: as in AddTimeOptions.
void AddBlockOptions(CLI::App& app, SelectionArguments& arguments, const std::string& of);
// Returns a line such as "Only blocks of modules layers.3, of 1.0 MiB or more". Empty if all blocks are selected.
std::string ChosenBlocksLine(const Selection& selection);
// Adds the option --run, which selects one of several runs in a folder.
void AddRunOption(CLI::App& app, std::string& run);
// Returns an error message if `run` is invalid. Empty if `run` is valid.
std::string RunComplaint(const std::string& run);
// Returns the number of the run, for Capture::Open. `run` must be valid.
std::uint32_t RunOf(const std::string& run);

// Returns an error message if a value is invalid, or if two options exclude each other. Empty if all options are valid.
std::string WindowComplaint(const SelectionArguments& arguments);

// Returns the selection that `arguments` describe. `arguments` must be valid.
Selection SelectionOf(const SelectionArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_SELECTION_ARGUMENTS_H_
