#include "tools/import/trace/profiler_names.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

constexpr std::size_t kMostPath = 4000;  // limit of a path in bytes; a module may call itself many times
// The limit of all paths together, in bytes. Beyond this limit, a module counts as the module around it.
constexpr std::size_t kMostPaths = std::size_t{256} << 20;

// The parts of a name such as "Linear_0", the first module of the class Linear.
struct ModuleName {
  std::string_view class_name;
  std::uint64_t number = 0;
};
ModuleName ModuleNameOf(std::string_view name) {
  const std::size_t at = name.rfind('_');
  ModuleName found{name};
  if (at == name.npos || at + 1 == name.size()) return found;
  const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), found.number);
  if (error != std::errc() || end != name.data() + name.size()) return {name};
  found.class_name = name.substr(0, at);
  return found;
}

}  // namespace

bool IsOperatorName(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == 0 || colons == name.npos || colons + 2 == name.size()) return false;
  if (name.starts_with("autograd::") || name.starts_with("torch::")) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           c == '.';
  });
}

std::uint32_t ProfilerNames::OperatorOf(Index name) {
  if (!IsOperatorName(trace_.texts[name])) return TextOf(name);
  std::uint32_t& number = names_[name];
  if (number == 0) number = writer_.AddOperator(trace_.texts[name]);
  return number;
}

std::uint32_t ProfilerNames::TextOf(Index name) {
  std::uint32_t& number = texts_[name];
  if (number == 0) number = writer_.AddText(trace_.texts[name]);
  return number;
}

// Returns the code that a name such as "train.py(12): forward" represents. A name of another form is a function without
// file and line.
ProfilerNames::Code ProfilerNames::CodeOf(Index name) {
  Code& code = codes_[name];
  if (code.number != 0) return code;
  const std::string_view text = trace_.texts[name];
  const std::size_t close = text.find("): ");
  const std::size_t open = close == text.npos ? text.npos : text.rfind('(', close);
  const bool has_line =
      open != text.npos &&
      std::from_chars(text.data() + open + 1, text.data() + close, code.line).ptr == text.data() + close;
  if (!has_line) code.line = 0;
  code.number = has_line ? writer_.AddCode(text.substr(0, open), text.substr(close + 3)) : writer_.AddCode("", text);
  return code;
}

std::uint32_t ProfilerNames::StackOf(std::uint32_t around, Index name) {
  const auto [found, added] = stacks_.try_emplace({around, name}, 0u);
  if (added) {
    const Code code = CodeOf(name);
    found->second = writer_.AddStack(around, code.number, code.line);
  }
  return found->second;
}

// The trace contains no module paths. A path is made of the names of the surrounding modules: "Block_3.Linear_7".
std::size_t ProfilerNames::ModuleOf(std::size_t around, Index name) {
  if (const auto found = module_numbers_.find({around, name}); found != module_numbers_.end()) return found->second;
  const std::size_t path_bytes = modules_[around].path.size();
  if (path_bytes > kMostPath || all_path_bytes_ + path_bytes > kMostPaths) return around;
  const std::size_t number = modules_.size();
  module_numbers_.emplace(std::pair(around, name), number);
  const std::string_view text = trace_.texts[name];
  const ModuleName parts = ModuleNameOf(text);
  const std::string class_name(parts.class_name);
  Module module;
  if (around == 0) {
    module.root = parts.number == 0 ? class_name : absl::StrCat(class_name, "#", parts.number + 1);
  } else {
    module.root = modules_[around].root;
    const std::string& path = modules_[around].path;
    module.path = absl::StrCat(path, path.empty() ? "" : ".", std::string(text));
  }
  module.number = writer_.AddModule(module.root, module.path, class_name);
  all_path_bytes_ += module.path.size();
  modules_.push_back(std::move(module));
  return number;
}

}  // namespace memoir
