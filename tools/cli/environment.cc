#include "tools/cli/environment.h"

#include <unistd.h>

#include <utility>

namespace memoir {

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::vector<std::string> EnvironmentWith(const Variables& variables) {
  std::vector<std::string> entries;
  for (std::string& entry : CurrentEnvironment()) {
    if (!variables.contains(entry.substr(0, entry.find('=')))) entries.push_back(std::move(entry));
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

}  // namespace memoir
