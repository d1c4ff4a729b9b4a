// The command line of memoir show.
#ifndef TOOLS_CLI_SHOW_SHOW_ARGUMENTS_H_
#define TOOLS_CLI_SHOW_SHOW_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/selection_arguments.h"

namespace memoir {

// The values of the options as typed; "" if an option is not given.
struct ShowArguments : SelectionArguments {
  std::string capture;
  bool json = false, brief = false;
  std::string by;  // "": the grouping that shows most of the capture
  std::string own;
  std::string at;
  std::string over;
  bool tree = false;
  std::optional<std::uint32_t> depth;
  std::string calls = "own";
  std::string thread;
  std::string grep;
  std::optional<std::uint32_t> top;
  std::string png;
  std::string svg;
  bool dark = false;

  bool draws() const { return !(png + svg).empty(); }
  // Returns true if the whole recording is shown, and not one instant, its course over time or its tree.
  bool shows_whole() const { return (at + over).empty() && !tree && takes_all(); }
};

void AddShowOptions(CLI::App& app, ShowArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_SHOW_SHOW_ARGUMENTS_H_
