#include "tools/cli/attach/attachment.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "nlohmann/json.hpp"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/simulated_world.h"
#include "tools/cli/terminal/printed_messages.h"

namespace memoir {
namespace {

// The dynamic loader splits LD_PRELOAD at spaces and colons, even inside quotes.
bool CanBePreloaded(const std::string& path) { return path.find_first_of(" :") == std::string::npos; }

std::string PrependedValue(const std::string& variable, const std::string& value) {
  const char* old = std::getenv(variable.c_str());
  return old == nullptr || *old == '\0' ? value : value + ":" + old;
}

// Adds the variables of the simulated world, and `attachment.set`. These variables replace entries of `variables` with
// the same name.
void Set(EnvironmentVariables& variables, const Attachment& attachment) {
  for (const auto& [name, value] : WorldVariables(variables)) variables[name] = value;
  for (const auto& [name, value] : attachment.set) variables[name] = value;
}

}  // namespace

Attachment AttachmentOf(const InstallTree& tree) {
  Attachment attachment;
  std::error_code error;
  if (!std::filesystem::exists(tree.interposer, error)) {
    PrintMessage("this installation lacks " + tree.interposer.string() +
                 "; install Memoir again. Going on without preload");
  } else if (!CanBePreloaded(tree.interposer.string())) {
    PrintMessage("the path " + tree.interposer.string() +
                 " holds a space or colon, which LD_PRELOAD cannot name; move the installation to a path without them. "
                 "Going on without preload");
  } else {
    attachment.prepended["LD_PRELOAD"] = tree.interposer.string();
  }
  if (std::filesystem::exists(tree.python, error)) attachment.prepended["PYTHONPATH"] = tree.python.string();
  attachment.set["MEMOIR_ENABLE"] = "1";
  return attachment;
}

void AddAttachment(EnvironmentVariables& variables, const Attachment& attachment) {
  Set(variables, attachment);
  for (const auto& [name, value] : attachment.prepended) variables[name] = PrependedValue(name, value);
}

std::string AsShell(const EnvironmentVariables& variables, const Attachment& attachment) {
  EnvironmentVariables all = variables;
  Set(all, attachment);
  std::string lines;
  for (const auto& [name, value] : all) lines += "export " + name + "=" + QuotedForShell(value) + "\n";
  for (const auto& [name, value] : attachment.prepended)
    lines += "export " + name + "=" + QuotedForShell(value) + "\"${" + name + ":+:$" + name + "}\"\n";
  return lines;
}

std::string AsJson(const EnvironmentVariables& variables, const Attachment& attachment) {
  EnvironmentVariables all = variables;
  AddAttachment(all, attachment);
  return nlohmann::ordered_json(all).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace memoir
