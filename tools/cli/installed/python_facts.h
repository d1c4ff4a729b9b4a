// What a Python interpreter would import, without importing it: its version, and the torch it finds with the version it
// says it has.
#ifndef TOOLS_CLI_INSTALLED_PYTHON_FACTS_H_
#define TOOLS_CLI_INSTALLED_PYTHON_FACTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct PythonFacts {
  std::string program;        // as asked for
  std::string executable;     // what ran
  std::string version;        // "3.11.7"
  std::string build;          // "cpython", or another interpreter's name; "free-threaded", "debug": such a CPython
  std::string torch_folder;   // "" when it has no torch
  std::string torch_version;  // "2.11.0+cu130", from version.py; "" when that could not be read
  std::string torch_minor;    // "2.11"; of a nightly all of its version
};

// Starts the interpreter (torch is looked for, not imported). The error says that it does not run, is no Python, or
// does not answer.
absl::StatusOr<PythonFacts> ExaminePython(const std::string& program);

// What the first line of a script asks for: "/usr/bin/env"; "" where it is no script.
std::string ShebangOf(const std::string& program);

// The interpreter that `command` starts: the command itself where it is called python*, the one of its first line where
// it is a script (torchrun, accelerate), else "".
std::string InterpreterOf(const std::vector<std::string>& command);

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_PYTHON_FACTS_H_
