#include "tools/cli/attach/nothing_recorded.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/environment.h"
#include "tools/cli/installed/python_facts.h"

namespace memoir {
namespace {

// The message if no other cause is found.
constexpr const char* kNoOperator =
    "no process imported torch and ran an operator. A forked child is recorded from its first backward pass on: "
    "if only such a child ran operators, call memoir.start() in it (memoir doctor checks the rest)";

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

// Returns true if `command` starts Python with -I or -E. With these options Python ignores PYTHONPATH, through which it
// finds Memoir.
bool IgnoresEnvironment(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size() && command[i].starts_with('-'); ++i) {
    if (command[i] == "-c" || command[i] == "-m" || command[i].starts_with("--")) return false;
    if (command[i].find_first_of("IE") != std::string::npos) return true;
  }
  return false;
}

// Returns true if `command` begins with `env -i`, which removes the variables that attach Memoir.
bool ClearsEnvironment(const std::vector<std::string>& command) {
  if (std::filesystem::path(command.front()).filename() != "env" || command.size() < 2) return false;
  return command[1] == "-i" || command[1] == "-" || command[1] == "--ignore-environment";
}

}  // namespace

std::string WhyNothingRecorded(const std::vector<std::string>& command, int signal, const InstallTree& tree) {
  const std::string start = "nothing was recorded: ";
  const std::filesystem::path package = tree.python / "_torch_memoir";
  std::error_code error;
  if (!std::filesystem::exists(package, error))
    return start + "this installation lacks " + package.string() + "; install Memoir again";
  if (signal != 0) {
    return start + fmt::format("signal {} ({}) ended {}; {}", signal, strsignal(signal), command.front(), kNoOperator);
  }
  if (ClearsEnvironment(command)) {
    return start + "env -i clears the variables by which Memoir starts; put it before memoir: env -i memoir run -- ...";
  }
  if (const auto value = AutoloadRefusal()) {
    return start + fmt::format(
                       "TORCH_DEVICE_BACKEND_AUTOLOAD='{}' keeps torch from starting Memoir; unset it, or call "
                       "memoir.start() in the program",
                       *value);
  }
  const std::string interpreter = InterpreterOf(command);
  if (interpreter.empty()) return start + kNoOperator;
  if (IgnoresEnvironment(command))
    return start + "python -I and -E ignore PYTHONPATH; leave them out, or call memoir.start() in the program";
  const auto python = ExaminePython(interpreter);
  if (!python.ok()) return start + kNoOperator;
  if (python->torch_folder.empty())
    return start + python->executable + " has no torch; run the program with a python that has one";
  const auto versions = TrackedTorchVersions(tree);
  if (std::ranges::find(versions, python->torch_minor) == versions.end()) {
    return start +
           fmt::format("no tracker for torch {} (this Memoir has: {}); in Memoir's sources: {} -m pip install .",
                       python->torch_version, Joined(versions), TypedWord(python->executable));
  }
  return start + kNoOperator;
}

}  // namespace memoir
