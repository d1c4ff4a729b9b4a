// The version of a Python interpreter, and the folder and version of the torch that it would import. Torch is not
// imported.
#ifndef TOOLS_CLI_INSTALLED_PYTHON_FACTS_H_
#define TOOLS_CLI_INSTALLED_PYTHON_FACTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct PythonFacts {
  std::string program;        // as requested
  std::string executable;     // the file that ran
  std::string version;        // "3.11.7"
  std::string build;          // "cpython", "free-threaded" or "debug" for CPython; otherwise the interpreter's name
  std::string torch_folder;   // "" if the interpreter has no torch
  std::string torch_version;  // "2.11.0+cu130", from version.py; "" if the version could not be read
  std::string torch_minor;    // "2.11"; for a nightly build, the full version
};

// Starts the interpreter, which looks for torch without importing it. Fails if the program does not run, is not a
// Python, or does not answer.
absl::StatusOr<PythonFacts> ExaminePython(const std::string& program);

// Returns the interpreter in the first line of a script, such as "/usr/bin/env"; empty if it is not a script.
std::string ShebangOf(const std::string& program);

// Returns the Python interpreter that `command` starts: the command itself if it is named python*, or the interpreter
// in the first line of a script (torchrun, accelerate). "" for other commands.
std::string InterpreterOf(const std::vector<std::string>& command);

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_PYTHON_FACTS_H_
