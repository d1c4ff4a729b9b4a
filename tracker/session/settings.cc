#include "tracker/session/settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "proto/memoir/byte_size.h"
#include "tracker/session/control/control_file.h"
#include "tracker/session/control/control_signals.h"
#include "tracker/session/process/default_output.h"
#include "tracker/session/process/rank.h"
#include "tracker/writer/file/folder_paths.h"
#include "tracker/writer/throwing_work.h"

namespace memoir {
namespace {

enum OptionKind {
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

struct Option {
  const char* variable;
  const char* argument;  // the option's name as an argument of memoir.start()
  OptionKind kind;
  const char* default_value;
};
constexpr Option kOptions[] = {
#define MEMOIR_OPTION(variable, run, argument, kind, default_value, help) {variable, argument, kind, default_value},
#include "proto/memoir/options.def"
#undef MEMOIR_OPTION
};

// Facts about the process, which the caller passes like options.
const char* const kFacts[] = {"program", "python_version", "automatic", "child"};

bool IsFlag(const std::string& value) {
  static const char* const kWords[] = {"0", "1", "true", "false", "on", "off", "yes", "no", ""};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return value == word; });
}

bool IsOn(const std::string& value) { return value == "1" || value == "true" || value == "on" || value == "yes"; }

bool IsNumber(const std::string& value) {
  return !value.empty() && value.size() < 10 && value.find_first_not_of("0123456789") == std::string::npos;
}

constexpr char kTimes[] = "times";  // a value of a kKernels option

// Returns the error in `value`; "" if the value is valid.
std::string Complaint(const Option& option, const std::string& value) {
  if (value.empty()) return "";
  if (option.kind == kSize && !ParseSize(value)) return "is not a size; write 512MiB, 2.4GiB or a number of bytes";
  const bool flag = option.kind == kFlag || option.kind == kSwitch;
  if (option.kind == kKernels && value != kTimes && !IsFlag(value)) return "is none of on, off and times";
  if (flag && !IsFlag(value)) return "is neither on nor off; write 1 or 0";
  if (option.kind == kNumber && !IsNumber(value)) return "is not a whole number";
  const char* const stacks[] = {"python", "native", "calls", "off"};
  if (option.kind == kStacks && std::ranges::find(stacks, value) == std::end(stacks))
    return "is none of python, native, calls and off";
  const char* const details[] = {"full", "auto", "blocks"};
  if (option.kind == kDetail && std::ranges::find(details, value) == std::end(details))
    return "is none of full, auto and blocks";
  if (option.kind == kPublication && value != "none" && value != "nvtx-memory")
    return "is neither none nor nvtx-memory";
  if (option.kind == kSnapshots && !ParseSnapshotTriggers(value)) return "has other words than oom, exception and exit";
  if (option.kind == kOperators && value != "ranges" && value != "dispatch") return "is neither ranges nor dispatch";
  return "";
}

std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

// Returns the name that is most similar to `name`, among the names that the options have in `field` (variables or
// arguments).
std::string Nearest(const std::string& name, const char* Option::* field) {
  const auto distance = [&](const Option& o) { return *(o.*field) == '\0' ? SIZE_MAX : EditDistance(o.*field, name); };
  const auto nearest = std::min_element(std::begin(kOptions), std::end(kOptions),
                                        [&](const Option& a, const Option& b) { return distance(a) < distance(b); });
  return nearest->*field;
}

void WarnOfUnknownVariables(std::vector<std::string>& warnings) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "MEMOIR_", 7) != 0) continue;
    const std::string name(*entry, std::strcspn(*entry, "="));
    const bool known =
        std::any_of(std::begin(kOptions), std::end(kOptions), [&](const Option& o) { return name == o.variable; });
    if (!known)
      warnings.push_back("unknown variable " + name + "; did you mean " + Nearest(name, &Option::variable) + "?");
  }
}

void WarnOfAnothersFolder(const std::string& folder, std::vector<std::string>& warnings) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0 || !IsOfAnotherUser(status)) return;
  warnings.push_back("the capture's folder " + folder + " belongs to another user (uid " +
                     std::to_string(status.st_uid) +
                     "), who can read, change and remove what is recorded; its control file is not obeyed");
}

bool IsArgument(const std::string& name) {
  return std::any_of(std::begin(kOptions), std::end(kOptions),
                     [&](const Option& o) { return *o.argument != '\0' && name == o.argument; }) ||
         std::any_of(std::begin(kFacts), std::end(kFacts), [&](const char* fact) { return name == fact; });
}

using Values = std::map<std::string, std::string>;  // key: name of an argument

std::optional<Values> ReadGiven(const char* const* given, std::string* error) {
  Values values;
  for (; given != nullptr && *given != nullptr; ++given) {
    const char* equals = std::strchr(*given, '=');
    const std::string name = equals == nullptr ? std::string(*given) : std::string(*given, equals);
    if (equals == nullptr || !IsArgument(name)) {
      *error = "unknown setting \"" + name + "\"; did you mean " + Nearest(name, &Option::argument) + "?";
      return std::nullopt;
    }
    values[name] = equals + 1;
  }
  return values;
}

bool FillFromEnvironment(Values& values, std::string* error) {
  for (const Option& option : kOptions) {
    if (*option.argument == '\0') continue;
    const char* found = std::getenv(option.variable);
    const auto [it, fresh] =
        values.try_emplace(option.argument, found != nullptr && *found != '\0' ? found : option.default_value);
    const std::string complaint = Complaint(option, it->second);
    if (option.kind == kPath && !it->second.empty()) it->second = AbsolutePath(it->second);
    if (complaint.empty()) continue;
    *error = std::string(fresh ? option.variable : option.argument) + "=" + it->second + " " + complaint;
    return false;
  }
  return true;
}

std::uint32_t ToNumber(const std::string& text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool ReadLevel(const std::string& word, RecordingLevel* level) {
  if (word == "on") *level = RecordingLevel::kAll;
  if (word == "memory") *level = RecordingLevel::kMemory;
  if (word == "off") *level = RecordingLevel::kOff;
  return word == "on" || word == "memory" || word == "off";
}

bool ReadWindows(Values& values, WindowOptions* windows, std::string* error) {
  const std::string &steps = values["steps"], &range = values["range"], &schedule = values["schedule"];
  if (static_cast<int>(!steps.empty()) + static_cast<int>(!range.empty()) + static_cast<int>(!schedule.empty()) > 1) {
    *error = "steps, range and schedule are different windows; give one of them";
    return false;
  }
  if (!steps.empty()) windows->steps = ParseSteps(steps);
  if (!steps.empty() && !windows->steps) *error = "steps=" + steps + ": write A:B with A before B, such as 10:12";
  if (!schedule.empty()) windows->schedule = ParseSchedule(schedule);
  if (!schedule.empty() && !windows->schedule)
    *error = "schedule=" + schedule + ": write wait=1,warmup=1,active=3,repeat=2, with active at least 1";
  if (!range.empty()) windows->range = ParseRange(range);
  return error->empty();
}

bool ReadSignal(Values& values, const char* argument, std::optional<int>* signal, std::string* error) {
  const std::string& name = values[argument];
  if (name.empty()) return true;
  *signal = ParseSignal(name);
  if (!*signal)
    *error = std::string(argument) + "=" + name + " is no signal that a program may use so; write USR1 or USR2";
  return signal->has_value();
}

bool ReadControls(Values& values, const std::string& output, ControlOptions* controls, std::string* error) {
  if (!ReadLevel(values["start"], &controls->start)) {
    *error = "start=" + values["start"] + ": write on, memory or off";
    return false;
  }
  const std::string& detail = values["detail"];
  if (detail == "auto") controls->detail = Detail::kAuto;
  if (detail == "blocks") controls->detail = Detail::kBlocks;
  if (!ReadSignal(values, "toggle_signal", &controls->toggle_signal, error) ||
      !ReadSignal(values, "snapshot_signal", &controls->snapshot_signal, error))
    return false;
  const std::string& file = values["control"];
  controls->control_file = file.empty() ? output + "/control" : file;
  if (!ReadWindows(values, &controls->windows, error)) return false;
  if (controls->detail != Detail::kAuto || !controls->windows.any()) return true;
  *error = "detail=auto chooses the steps in which operators are recorded; leave out steps, range and schedule";
  return false;
}

}  // namespace

std::optional<Settings> ReadSettings(const char* const* given, std::string* error) {
  std::optional<Values> values = ReadGiven(given, error);
  if (!values || !FillFromEnvironment(*values, error)) return std::nullopt;
  Settings settings;
  if (const std::string rank = (*values)["rank"]; !rank.empty()) settings.rank = ToNumber(rank);
  std::string output = (*values)["output"];
  if (output.empty()) InOwnFilesThrowing([&] { output = DefaultOutput(settings.rank); });
  settings.output = AbsolutePath(output);
  if (!ReadControls(*values, settings.output, &settings.controls, error)) return std::nullopt;
  settings.max_size = ParseSize((*values)["max_size"]).value_or(0);
  settings.ring_dir = (*values)["ring_dir"];
  settings.ring_size = ParseSize((*values)["ring_size"]).value_or(0);
  settings.modules = IsOn((*values)["modules"]);
  settings.stacks = (*values)["stacks"] != "off";
  settings.native_stacks = (*values)["stacks"] == "native";
  settings.calls = (*values)["stacks"] == "calls";
  settings.kernel_times = (*values)["kernels"] == kTimes;
  settings.kernels = settings.kernel_times || IsOn((*values)["kernels"]);
  settings.holders = IsOn((*values)["holders"]);
  settings.publishes = (*values)["publish"] == "nvtx-memory";
  settings.snapshots = ParseSnapshotTriggers((*values)["snapshot_on"]).value_or(SnapshotTriggers{});
  settings.program = (*values)["program"];
  settings.python_version = (*values)["python_version"];
  settings.dispatched_operators = (*values)["ops"] == "dispatch";
  settings.automatic = IsOn((*values)["automatic"]);
  settings.child = IsOn((*values)["child"]);
  settings.quiet = IsOn((*values)["quiet"]);
  if (!settings.quiet && !settings.child && IsReportingProcess()) {
    WarnOfUnknownVariables(settings.warnings);
    WarnOfAnothersFolder(settings.output, settings.warnings);
  }
  return settings;
}

}  // namespace memoir
