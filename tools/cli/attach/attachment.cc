#include "tools/cli/attach/attachment.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "nlohmann/json.hpp"
#include "tools/cli/attach/simulated_world.h"
#include "tools/cli/terminal/message.h"

namespace memoir {
namespace {

// The dynamic loader splits LD_PRELOAD at both, and has no way to quote them.
bool CanBePreloaded(const std::string& path) { return path.find_first_of(" :") == std::string::npos; }

std::string Prepended(const std::string& variable, const std::string& value) {
  const char* old = std::getenv(variable.c_str());
  return old == nullptr || *old == '\0' ? value : value + ":" + old;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What the attachment sets goes before what the environment had.
void Set(Variables& variables, const Attachment& attachment) {
  for (const auto& [name, value] : WorldVariables(variables)) variables[name] = value;
  for (const auto& [name, value] : attachment.set) variables[name] = value;
}

}  // namespace

Attachment AttachmentOf(const InstallTree& tree) {
  Attachment attachment;
  std::error_code error;
  if (!std::filesystem::exists(tree.interposer, error)) {
    Say("this installation lacks " + tree.interposer.string() + "; install Memoir again. Going on without preload");
  } else if (!CanBePreloaded(tree.interposer.string())) {
    Say("the path " + tree.interposer.string() +
        " holds a space or colon, which LD_PRELOAD cannot name; move the installation to a path without. "
        "Going on without preload");
  } else {
    attachment.prepended["LD_PRELOAD"] = tree.interposer.string();
  }
  if (std::filesystem::exists(tree.python, error)) attachment.prepended["PYTHONPATH"] = tree.python.string();
  attachment.set["MEMOIR_ENABLE"] = "1";
  return attachment;
}

void AddTo(Variables& variables, const Attachment& attachment) {
  Set(variables, attachment);
  for (const auto& [name, value] : attachment.prepended) variables[name] = Prepended(name, value);
}

std::string AsShell(const Variables& variables, const Attachment& attachment) {
  Variables all = variables;
  Set(all, attachment);
  std::string lines;
  for (const auto& [name, value] : all) lines += "export " + name + "=" + Quoted(value) + "\n";
  for (const auto& [name, value] : attachment.prepended)
    lines += "export " + name + "=" + Quoted(value) + "\"${" + name + ":+:$" + name + "}\"\n";
  return lines;
}

std::string AsJson(const Variables& variables, const Attachment& attachment) {
  Variables all = variables;
  AddTo(all, attachment);
  return nlohmann::ordered_json(all).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace memoir
