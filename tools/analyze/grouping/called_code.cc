#include "tools/analyze/grouping/called_code.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memoir {
namespace {

std::string_view LastName(std::string_view function) {
  const std::size_t dot = function.rfind('.');
  return dot == std::string_view::npos ? function : function.substr(dot + 1);
}

// Returns true for a file of Memoir's Python package. Captures of versions up to 0.1.0 contain the package under the
// name "memoir".
bool IsOfMemoir(std::string_view file) {
  constexpr std::array<std::string_view, 2> kPackages = {"/_torch_memoir/", "/memoir/_"};
  return std::ranges::any_of(kPackages, [&](std::string_view package) {
    const std::size_t at = file.rfind(package);
    return at != std::string_view::npos && file.find('/', at + package.size()) == std::string_view::npos;
  });
}

CalledCode LookAt(const Code& code, const OwnCode& own) {
  CalledCode called;
  called.is_builtin = code.file.empty();
  called.of_memoir = IsOfMemoir(code.file);
  called.of_library = own.OwnerOf(code.file) == CodeOwner::kLibrary;
  const std::string_view name = LastName(code.function);
  called.calls_module = name == "_wrapped_call_impl" && code.file.ends_with("torch/nn/modules/module.py");
  called.is_forward = name == "forward";
  called.enters = name == "__enter__";
  return called;
}

// Returns the position after "/lib/python3.11/". 0 if the path contains no such part.
std::size_t EndOfStandardLibrary(std::string_view file) {
  constexpr std::string_view kFolder = "/lib/python";
  const std::size_t at = file.rfind(kFolder);
  if (at == std::string_view::npos) return 0;
  const std::size_t end = file.find_first_not_of("0123456789.t", at + kFolder.size());
  return end != std::string_view::npos && file[end] == '/' ? end + 1 : 0;
}

// Returns the path of the file below the folder from which Python imported the file. Returns `file` if this folder is
// unknown.
std::string_view Relative(std::string_view file, std::string_view program_folder) {
  constexpr std::array<std::string_view, 2> kPackages = {"/site-packages/", "/dist-packages/"};
  for (const std::string_view packages : kPackages) {
    if (const std::size_t at = file.rfind(packages); at != std::string_view::npos)
      return file.substr(at + packages.size());
  }
  if (const std::size_t end = EndOfStandardLibrary(file); end != 0) return file.substr(end);
  const bool below = !program_folder.empty() && file.size() > program_folder.size() &&
                     file.starts_with(program_folder) && file[program_folder.size()] == '/';
  return below ? file.substr(program_folder.size() + 1) : file;
}

}  // namespace

const CalledCode& CalledCodes::FactsOf(CodeId code, const Dictionary& dictionary) {
  if (!code.valid()) return unknown_;
  if (known_.size() <= code.value) known_.resize(code.value + 1);
  std::optional<CalledCode>& known = known_[code.value];
  if (!known) known = LookAt(dictionary.code(code), own_);
  return *known;
}

std::string TorchCallName(const Code& code, std::string_view program_folder) {
  if (!code.file.empty())
    return std::string(Relative(code.file, program_folder)) + "(0): " + std::string(LastName(code.function));
  constexpr std::string_view kObject = " object>";
  if (!code.function.ends_with(kObject)) return code.function;
  return code.function.substr(0, code.function.size() - 1) + " at 0x0>";
}

std::string ProgramFolder(const Dictionary& dictionary, std::string_view program) {
  for (std::uint32_t i = 0; i < dictionary.codes(); ++i) {
    const Code& code = dictionary.code(CodeId{i});
    if (code.function != "<module>" || code.file_name() != program || !code.file.starts_with('/')) continue;
    return code.file.substr(0, code.file.rfind('/'));
  }
  return "";
}

}  // namespace memoir
