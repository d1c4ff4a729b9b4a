#include "tools/analyze/rules/parameter_book.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

std::string LabelOf(const HeldName& held, std::uint32_t position, const Dictionary& dictionary) {
  const std::string name =
      held.name.valid() ? std::string(dictionary.text(held.name)) : absl::StrCat("parameter ", position);
  if (!held.module.valid()) return name;
  const Module& module = dictionary.module(held.module);
  return module.path.empty() ? name : absl::StrCat(module.path, ".", name);
}

}  // namespace

std::string Parameter::label() const {
  std::string all;
  for (const std::string& one : labels) absl::StrAppend(&all, all.empty() ? "" : " = ", one);
  return all;
}

bool Parameter::IsNamed(std::string_view name) const {
  return std::ranges::find(labels, name) != labels.end() || label() == name;
}

// Ids of one replay's dictionary mean something to another only once that has read as far.
void ParameterBook::EndProcess(const Dictionary& dictionary) {
  for (; labelled_ < parameters_.size(); ++labelled_) {
    Parameter& parameter = parameters_[labelled_];
    for (const HeldName& held : parameter.names)
      parameter.labels.push_back(LabelOf(held, parameter.of_module, dictionary));
    if (!parameter.names.empty() && parameter.names[0].module.valid())
      parameter.root = dictionary.module(parameter.names[0].module).root;
    if (!parameter.labels.empty()) continue;
    const std::string layout = parameter.layout.valid() ? ", " + ToString(dictionary.layout(parameter.layout)) : "";
    parameter.labels.push_back(absl::StrCat("leaf ", parameter.of_module, layout));
  }
  by_impl_.clear();
}

ParameterNumber ParameterBook::Add(ProcessId process, const Tensor& tensor) {
  Parameter parameter;
  parameter.process = process;
  parameter.layout = tensor.layout;
  parameters_.push_back(std::move(parameter));
  const auto number = static_cast<ParameterNumber>(parameters_.size() - 1);
  by_impl_[tensor.impl] = number;
  return number;
}

ParameterNumber ParameterBook::Held(ProcessId process, ModuleId module, NameId name, std::uint32_t position,
                                    bool is_buffer, const Tensor& tensor) {
  const auto place = std::tuple(process, module, name.valid() ? name.value : position, is_buffer);
  const auto known = by_impl_.find(tensor.impl);
  const auto here = by_place_.find(place);
  if (here != by_place_.end() && (known == by_impl_.end() || known->second == here->second)) {
    by_impl_[tensor.impl] = here->second;  // another tensor in the same place, or the same again
    return here->second;
  }
  // A name that another tensor had is this one's from now on; what that one was stays what it was called.
  const bool leaf = known != by_impl_.end() && parameters_[known->second].names.empty();
  const ParameterNumber number = known == by_impl_.end() ? Add(process, tensor) : known->second;
  Parameter& parameter = parameters_[number];
  if (leaf || parameter.names.empty()) parameter.of_module = position;
  parameter.is_buffer = is_buffer;
  const auto same = [&](const HeldName& held) { return held.module == module && held.name == name; };
  if (std::ranges::none_of(parameter.names, same)) parameter.names.push_back({module, name});
  by_place_[place] = number;
  return number;
}

ParameterNumber ParameterBook::Leaf(ProcessId process, const Tensor& tensor) {
  if (const auto known = by_impl_.find(tensor.impl); known != by_impl_.end()) return known->second;
  const ParameterNumber number = Add(process, tensor);
  parameters_[number].of_module = leaves_++;
  return number;
}

}  // namespace memoir
