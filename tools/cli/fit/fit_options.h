// The options of `memoir fit`: the cards, their memory, and the varied value. Wrong options are refused before anything
// runs.
#ifndef TOOLS_CLI_FIT_FIT_OPTIONS_H_
#define TOOLS_CLI_FIT_FIT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/arguments/arguments.h"
#include "tools/cli/launch/simulated_device.h"

namespace memoir {

// The value of --vary, such as "BATCH=1:512" or "BATCH=8:512:8".
struct Variation {
  std::string name;
  std::uint64_t first = 0, last = 0, step = 1;
};

absl::StatusOr<Variation> ParseVariation(const std::string& text);
// Returns `command` with the value in place of each "{NAME}".
std::vector<std::string> WithValue(const std::vector<std::string>& command, const Variation& variation,
                                   std::uint64_t value);

struct FitOptions {
  std::string gpu = "h100";  // a card's key, or "all"
  std::string memory;        // as typed; "": the memory in the card's profile
  std::string profiles;      // file with further cards; "": no file
  std::string addresses;     // linux or wsl; "": as on this host
  std::optional<std::uint32_t> devices, rank, world;
  std::string vary, png, output;
  bool quiet = false, json = false, brief = false;
  std::vector<std::string> command;

  std::vector<SimulatedCard> cards;    // filled by Resolve
  std::optional<Variation> variation;  // filled by Resolve
  bool has_several() const { return variation || cards.size() != 1; }
};

// Returns the size in bytes of the address space that a process may use: the limit of `ulimit -v`, or the largest
// number if there is no limit.
std::uint64_t AddressSpaceLimit();

// Returns an exit code if the program should end; nullopt to continue.
std::optional<int> ParseFitOptions(const std::vector<std::string>& arguments, FitOptions& options);

}  // namespace memoir

#endif  // TOOLS_CLI_FIT_FIT_OPTIONS_H_
