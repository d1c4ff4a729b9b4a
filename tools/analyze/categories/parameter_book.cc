#include "tools/analyze/categories/parameter_book.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

std::string LabelOf(const ParameterName& held, std::uint32_t position, const Dictionary& dictionary) {
  const std::string name =
      held.name.valid() ? std::string(dictionary.text(held.name)) : absl::StrCat("parameter ", position);
  if (!held.module.valid()) return name;
  const Module& module = dictionary.module(held.module);
  return module.path.empty() ? name : absl::StrCat(module.path, ".", name);
}

}  // namespace

std::string Parameter::label() const {
  std::string all;
  for (std::size_t i = 0; i < of_root; ++i) absl::StrAppend(&all, all.empty() ? "" : " = ", labels[i]);
  return all;
}

bool Parameter::IsNamed(std::string_view name) const {
  return std::ranges::find(labels, name) != labels.end() || label() == name;
}

// Makes the labels at the end of the process, from the dictionary of this replay. The dictionary of another replay
// lacks these names until that replay has read the same chunks.
void ParameterBook::EndProcess(const Dictionary& dictionary) {
  for (; labelled_ < parameters_.size(); ++labelled_) {
    Parameter& parameter = parameters_[labelled_];
    const auto root_of = [&](const ParameterName& held) {
      return held.module.valid() ? std::string_view(dictionary.module(held.module).root) : std::string_view();
    };
    if (!parameter.names.empty()) parameter.root = root_of(parameter.names.back());
    for (const bool of_root : {true, false}) {
      for (const ParameterName& held : parameter.names) {
        if ((root_of(held) == parameter.root) == of_root)
          parameter.labels.push_back(LabelOf(held, parameter.of_module, dictionary));
      }
      if (of_root) parameter.of_root = parameter.labels.size();
    }
    if (!parameter.labels.empty()) continue;
    const std::string layout = parameter.layout.valid() ? ", " + ToString(dictionary.layout(parameter.layout)) : "";
    parameter.labels.push_back(absl::StrCat("leaf ", parameter.of_module, layout));
    parameter.of_root = 1;
  }
  by_impl_.clear();
  by_block_.clear();
}

// Finds a tensor by the address of its TensorImpl. Returns nullopt if the block of the tensor known at this address was
// freed and `tensor` has another block: usually `tensor` is a new TensorImpl at the same address. But `tensor` may also
// be a known parameter that received new memory. In this case its module reports it at the next call, and AddNamed
// finds it by module and name.
std::optional<ParameterNumber> ParameterBook::Find(const BookedTensor& tensor) const {
  const auto known = by_impl_.find(tensor.impl);
  if (known == by_impl_.end()) return std::nullopt;
  if (known->second.block_ended && known->second.block != tensor.block) return std::nullopt;
  return known->second.number;
}

void ParameterBook::Remember(const BookedTensor& tensor, ParameterNumber number) {
  by_impl_[tensor.impl] = {number, tensor.block};
  if (tensor.block != BookedTensor::kNoBlock) by_block_[tensor.block] = tensor.impl;
}

void ParameterBook::EndBlock(std::uint64_t block) {
  const auto found = by_block_.find(block);
  if (found == by_block_.end()) return;
  const auto known = by_impl_.find(found->second);
  if (known != by_impl_.end() && known->second.block == block) known->second.block_ended = true;
  by_block_.erase(found);
}

ParameterNumber ParameterBook::Add(ProcessId process, const BookedTensor& tensor) {
  Parameter parameter;
  parameter.process = process;
  parameter.layout = tensor.layout;
  parameters_.push_back(std::move(parameter));
  const auto number = static_cast<ParameterNumber>(parameters_.size() - 1);
  Remember(tensor, number);
  return number;
}

ParameterNumber ParameterBook::AddNamed(ProcessId process, ModuleId module, NameId name, std::uint32_t position,
                                        bool is_buffer, const BookedTensor& tensor) {
  const auto place = std::tuple(process, module, name.valid() ? name.value : position, is_buffer);
  const std::optional<ParameterNumber> known = Find(tensor);
  const auto here = by_place_.find(place);
  if (here != by_place_.end() && (!known || *known == here->second)) {
    Remember(tensor, here->second);  // another tensor with the same name, or the same tensor again
    return here->second;
  }
  // The name belongs to this tensor from now on. The parameter that had the name before keeps its own label.
  const bool leaf = known && parameters_[*known].names.empty();
  const ParameterNumber number = known ? *known : Add(process, tensor);
  Remember(tensor, number);
  Parameter& parameter = parameters_[number];
  if (leaf || parameter.names.empty()) parameter.of_module = position;
  parameter.is_buffer = is_buffer;
  const auto same = [&](const ParameterName& held) { return held.module == module && held.name == name; };
  if (std::ranges::none_of(parameter.names, same)) parameter.names.push_back({module, name});
  by_place_[place] = number;
  return number;
}

ParameterNumber ParameterBook::AddLeaf(ProcessId process, const BookedTensor& tensor) {
  if (const std::optional<ParameterNumber> known = Find(tensor)) return *known;
  const ParameterNumber number = Add(process, tensor);
  parameters_[number].of_module = leaves_++;
  return number;
}

}  // namespace memoir
