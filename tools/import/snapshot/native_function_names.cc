#include "tools/import/snapshot/native_function_names.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

// Overload names begin with a capital letter, except for these.
constexpr std::string_view kLowerOverloads[] = {"_memory_format", "_out",         "_int",        "_dim",
                                                "_dtype",         "_start",       "_start_step", "_correction",
                                                "_generator",     "_dtype_layout"};

std::string_view WithoutOverload(std::string_view name) {
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '_' && absl::ascii_isupper(static_cast<unsigned char>(name[i + 1]))) name = name.substr(0, i);
  }
  std::string_view shortest = name;
  for (const std::string_view overload : kLowerOverloads) {
    if (!name.ends_with(overload) || name.size() == overload.size()) continue;
    const std::string_view rest = name.substr(0, name.size() - overload.size());
    if (rest.size() < shortest.size()) shortest = rest;
  }
  return shortest;
}

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Returns true for a path without a suffix, such as "/usr/local/bin/train", which is a Python script. Sources of C++
// have a suffix.
bool IsScript(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  return slash != file.npos && slash + 1 < file.size() && file.find('.', slash) == file.npos;
}

// Returns the text after `start`. Empty if `text` does not begin with `start`.
std::string_view Behind(std::string_view text, std::string_view start) {
  return text.starts_with(start) ? text.substr(start.size()) : "";
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

}  // namespace

bool IsPythonFile(std::string_view file) {
  const bool is_made = file.starts_with('<') && file.find('>') != file.npos;  // "<string>", "<eval_with_key>.12"
  return file.ends_with(".py") || is_made || IsScript(file) || Contains(file, "ipython-input");
}

std::string OperatorOf(std::string_view function) {
  function = Behind(function, "at::_ops::");
  const std::string_view name = function.substr(0, function.find("::"));
  if (!IsIdentifier(name) || name.size() == function.size()) return "";
  function.remove_prefix(name.size() + 2);
  if (!function.starts_with("call(") && !function.starts_with("redispatch(")) return "";
  return absl::StrCat("aten::", std::string(WithoutOverload(name)));
}

std::string_view AutogradNodeOf(std::string_view function) {
  function = Behind(function, "torch::autograd::");
  if (function.starts_with("Engine::evaluate_function(")) return "autograd engine";
  const std::size_t end = function.find("::apply(");
  if (end == function.npos) return "";
  constexpr std::string_view kGenerated = "generated::";
  std::string_view name = function.substr(0, end);
  if (name.starts_with(kGenerated)) name.remove_prefix(kGenerated.size());
  return IsIdentifier(name) ? name : "";
}

bool IsPlumbing(std::string_view function, std::string_view file) {
  constexpr std::string_view kFunctions[] = {"unwind::unwind",   "CapturedTraceback::gather",
                                             "gather_with_cpp",  "CUDACachingAllocator",
                                             "_start",           "__libc_start",
                                             "PyEval_",          "PyObject_",
                                             "PyFunction_",      "c10::impl::",
                                             "c10::BoxedKernel", "at::detail::empty_"};
  constexpr std::string_view kFiles[] = {
      "core/boxing",          "/Register",      "/Redispatch", "pythonrun.c",       "Modules/main.c", "Objects/call.c",
      "Objects/methodobject", "pycore_ceval.h", "ceval.c",     "cpython/abstract.h"};
  const auto is_in = [](std::string_view text) {
    return [text](std::string_view part) { return Contains(text, part); };
  };
  return std::ranges::any_of(kFunctions, is_in(function)) || std::ranges::any_of(kFiles, is_in(file));
}

}  // namespace memoir
