#include "tools/cli/attach/environment.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace memoir {

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::vector<std::string> EnvironmentWith(const EnvironmentVariables& variables) {
  std::vector<std::string> entries;
  for (std::string& entry : CurrentEnvironment()) {
    if (!variables.contains(entry.substr(0, entry.find('=')))) entries.push_back(std::move(entry));
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::optional<std::string> AutoloadRefusal() {
  const char* value = std::getenv("TORCH_DEVICE_BACKEND_AUTOLOAD");
  if (value == nullptr || std::string_view(value) == "1") return std::nullopt;
  return value;
}

}  // namespace memoir
