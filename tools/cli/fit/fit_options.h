// The words of `memoir fit`: which cards, how much memory, what is varied. Everything that means nothing is refused
// before anything runs.
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

// "BATCH=1:512", "BATCH=8:512:8"
struct Variation {
  std::string name;
  std::uint64_t first = 0, last = 0, step = 1;
};

absl::StatusOr<Variation> ParseVariation(const std::string& text);
// `command` with the value for every "{NAME}".
std::vector<std::string> WithValue(const std::vector<std::string>& command, const Variation& variation,
                                   std::uint64_t value);

struct FitOptions {
  std::string gpu = "h100";  // a card's key, or "all"
  std::string memory;        // as written; "": the card's
  std::string profiles;      // file of further cards; "": none
  std::string addresses;     // linux, wsl; "": as this host is
  std::optional<std::uint32_t> devices, rank, world;
  std::string vary, png, output;
  bool quiet = false, json = false, brief = false;
  std::vector<std::string> command;

  std::vector<SimulatedCard> cards;    // filled by Resolve
  std::optional<Variation> variation;  // filled by Resolve
  bool several() const { return variation || cards.size() != 1; }
};

// Bytes of addresses that a process may take; as good as unlimited without `ulimit -v`.
std::uint64_t AddressSpaceLimit();

// Nothing: go on. A value: end with it.
std::optional<int> ParseFitOptions(const std::vector<std::string>& arguments, FitOptions& options);

}  // namespace memoir

#endif  // TOOLS_CLI_FIT_FIT_OPTIONS_H_
