#include "tools/analyze/data_flow/call_names.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

std::uint32_t Add(std::string name, EventTree& tree) {
  tree.names.push_back(std::move(name));
  return static_cast<std::uint32_t>(tree.names.size() - 1);
}

std::uint32_t& At(std::vector<std::uint32_t>& numbers, std::uint32_t index) {
  if (numbers.size() <= index) numbers.resize(index + 1, TreeNode::kNone);
  return numbers[index];
}

}  // namespace

std::uint32_t CallNames::IndexOf(CodeId code, const Dictionary& dictionary, EventTree& tree) {
  if (!code.valid()) {
    if (unknown_ == TreeNode::kNone) unknown_ = Add("(unknown)", tree);
    return unknown_;
  }
  std::uint32_t& number = At(of_code_, code.value);
  if (number != TreeNode::kNone) return number;
  if (folder_.empty()) folder_ = ProgramFolder(dictionary, program_);
  return number = Add(TorchCallName(dictionary.code(code), folder_), tree);
}

TorchOpenNodes::Node CallNames::BeginCall(const CallEvent& event, TorchOpenNodes& nodes, const Dictionary& dictionary) {
  nodes.End(true, event.around);
  const CalledCode& code = facts_.FactsOf(event.code, dictionary);
  TorchOpenNodes::Node open{TreeNode::kNone, event.around, true};
  open.hidden = code.of_memoir || nodes.HidesCalls();
  open.calls_module = code.calls_module;
  if (open.hidden) open.node = nodes.Innermost();
  return open;
}

std::uint32_t CallNames::IndexOfModule(ModuleId module, const Dictionary& dictionary, EventTree& tree) {
  std::uint32_t& number = At(of_module_, module.value);
  if (number != TreeNode::kNone) return number;
  const std::string& class_name = dictionary.module(module).class_name;
  return number = Add(absl::StrCat("nn.Module: ", class_name, "_", called_[class_name]++), tree);
}

}  // namespace memoir
