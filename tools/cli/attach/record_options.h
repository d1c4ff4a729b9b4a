// The options of a recording (proto/memoir/options.def), for `memoir run` and `memoir doctor`. Lists the options,
// checks their values, and finds MEMOIR_* variables that Memoir does not use.
#ifndef TOOLS_CLI_ATTACH_RECORD_OPTIONS_H_
#define TOOLS_CLI_ATTACH_RECORD_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/arguments/option_values.h"

namespace memoir {

enum class OptionKind {
  kPath,
  kSize,
  kFlag,
  kNumber,
  kText,
  kSteps,
  kSchedule,
  kLevel,
  kDetail,
  kSignal,
  kOperators,
  kBound,
  kAddresses,
  kStacks,
  kPublication,
  kSwitch,
  kKernels,
  kSnapshots
};

struct RecordOption {
  const char* variable;  // "MEMOIR_MAX_SIZE"
  const char* flag;      // "--max-size", or empty if `memoir run` has no such option
  OptionKind kind;
  const char* fallback;  // the value if the option is not given
  const char* help;
};

std::span<const RecordOption> RecordOptions();

// Returns the value in the form that the tracker reads: sizes in plain bytes, flags as 0 or 1, paths absolute. An error
// names `source` (the option or variable) and the valid values.
absl::StatusOr<std::string> NormalizeOption(const RecordOption& option, std::string_view source,
                                            std::string_view value);

// Returns `path` as an absolute path. If the working folder was deleted, a relative path has no absolute path, so this
// function returns `path` unchanged.
std::string AbsoluteOrGivenPath(const std::string& path);

// Returns one line for each variable MEMOIR_* of `environment` ("NAME=value" strings) that Memoir does not use.
std::vector<std::string> UnknownVariables(std::span<const std::string> environment);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_RECORD_OPTIONS_H_
