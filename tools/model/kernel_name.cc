#include "tools/model/kernel_name.h"

#include <cstddef>
#include <optional>

namespace memoir {
namespace {

constexpr std::string_view kTemplate = "<...>";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool Take(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

// Returns the namespaces and the name of a function, joined by "::". The result ends with the first part that has
// template arguments; "<...>" stands for these arguments.
std::string WithoutArguments(std::string_view mangled) {
  std::string_view rest = mangled;
  if (!Take(rest, "_Z")) return std::string(mangled);
  const bool nested = Take(rest, "N");
  std::string name;
  if (Take(rest, "St")) name = "std";
  do {
    Take(rest, "L");  // internal linkage
    const std::optional<std::string_view> part = TakeIdentifier(rest);
    if (!part) break;
    if (!name.empty()) name += "::";
    name += part->starts_with("_GLOBAL__N") ? "(anonymous namespace)" : *part;
    if (rest.starts_with('I')) return name + std::string(kTemplate);
  } while (nested && !rest.starts_with('E'));
  return name.empty() ? std::string(mangled) : name;
}

}  // namespace

std::optional<std::string_view> TakeIdentifier(std::string_view& text) {
  std::size_t length = 0, at = 0;
  for (; at < text.size() && IsDigit(text[at]) && length < text.size(); ++at)
    length = length * 10 + static_cast<std::size_t>(text[at] - '0');
  if (at == 0 || length == 0 || length > text.size() - at) return std::nullopt;
  const std::string_view identifier = text.substr(at, length);
  text.remove_prefix(at + length);
  return identifier;
}

std::string KernelName(std::string_view mangled) { return WithoutArguments(mangled); }

std::string ShortKernelName(std::string_view mangled) {
  const std::string name = WithoutArguments(mangled);
  const std::size_t last = mangled.starts_with("_Z") ? name.rfind("::") : std::string::npos;
  return last == std::string::npos ? name : name.substr(last + 2);
}

// For a template function, the mangled name contains the return type. The return type of a kernel is "void".
std::string KernelSignature(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::string(mangled);
  const std::string name = WithoutArguments(mangled);
  return (name.ends_with(kTemplate) ? "void " : "") + name + "(...)";
}

}  // namespace memoir
