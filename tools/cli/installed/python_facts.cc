#include "tools/cli/installed/python_facts.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

#include "tools/cli/process/child_process.h"

namespace memoir {
namespace {

// Prints one value on each line. find_spec of a top-level package imports nothing.
constexpr const char* kQuestion =
    "import sys, sysconfig, importlib.util as u\n"
    "s = u.find_spec('torch')\n"
    "print(sys.executable)\n"
    "print('.'.join(map(str, sys.version_info[:3])))\n"
    "print(s.submodule_search_locations[0] if s and s.submodule_search_locations else '')\n"
    "print('free-threaded' if sysconfig.get_config_var('Py_GIL_DISABLED') else 'debug' if hasattr(sys, "
    "'gettotalrefcount') "
    "else sys.implementation.name)\n";

std::string ReadStart(const std::filesystem::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string TorchVersion(const std::string& folder) {
  const std::string text = ReadStart(std::filesystem::path(folder) / "version.py", 16384);
  static const std::regex kVersion(R"(__version__[^=\n]*=\s*['"]([^'"]+)['"])");
  std::smatch match;
  return std::regex_search(text, match, kVersion) ? match[1].str() : "";
}

// Returns the version of torch in the form of the trackers' file names, like minor_of() in
// python/_torch_memoir/_library.py: "2.11", or for a nightly build the full version.
std::string Minor(const std::string& version) {
  static const std::regex kRelease(R"((\d+\.\d+)\.\d+(rc\d+|\.post\d+)?(\+.*)?)");
  std::smatch match;
  return std::regex_match(version, match, kRelease) ? match[1].str() : version;
}

}  // namespace

absl::StatusOr<PythonFacts> ExaminePython(const std::string& program) {
  constexpr int kPatienceSeconds = 30;  // enough for a slow network file system
  const auto answer = CaptureOutput({program, "-c", kQuestion}, kPatienceSeconds);
  if (absl::IsDeadlineExceeded(answer.status())) return answer.status();
  const absl::Status no_python = absl::UnavailableError(program + " does not run here, or is no Python");
  if (!answer.ok()) return no_python;
  PythonFacts facts;
  facts.program = program;
  std::istringstream lines(*answer);
  if (!std::getline(lines, facts.executable) || !std::getline(lines, facts.version)) return no_python;
  // Python does not know its own path if PATH is not set.
  if (facts.executable.empty()) facts.executable = FindOnPath(program);
  std::getline(lines, facts.torch_folder);
  std::getline(lines, facts.build);
  if (facts.torch_folder.empty()) return facts;
  facts.torch_version = TorchVersion(facts.torch_folder);
  facts.torch_minor = Minor(facts.torch_version);
  return facts;
}

std::string ShebangOf(const std::string& program) {
  const std::string path = FindOnPath(program);
  const std::string start = path.empty() ? "" : ReadStart(path, 512);
  if (!start.starts_with("#!")) return "";
  std::istringstream line(start.substr(2, start.find('\n') - 2));
  std::string interpreter;
  line >> interpreter;
  return interpreter;
}

std::string InterpreterOf(const std::vector<std::string>& command) {
  const std::string name = std::filesystem::path(command.front()).filename().string();
  if (name.starts_with("python") || name.starts_with("pypy")) return command.front();
  const std::string start = ReadStart(FindOnPath(command.front()), 512);
  if (!start.starts_with("#!")) return "";
  std::istringstream line(start.substr(2, start.find('\n') - 2));
  std::string program, argument;
  line >> program >> argument;
  const bool by_env = std::filesystem::path(program).filename() == "env";
  const std::string interpreter = by_env ? argument : program;
  return interpreter.find("python") != std::string::npos ? interpreter : "";
}

}  // namespace memoir
