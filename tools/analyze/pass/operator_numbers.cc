#include "tools/analyze/pass/operator_numbers.h"

#include <algorithm>

namespace memoir {
namespace {

// Returns "aten::add" for "aten::add.Tensor".
std::string_view WithoutOverload(std::string_view name) {
  const std::size_t colons = name.find("::");
  return name.substr(0, name.find('.', colons == std::string_view::npos ? 0 : colons));
}

}  // namespace

bool IsOperatorNamed(std::string_view name, std::string_view asked) {
  return name.starts_with(asked) && (name.size() == asked.size() || name[asked.size()] == '.');
}

std::uint64_t OperatorNumbers::BeginCall(NameId name, const Dictionary& dictionary) {
  if (names_.size() <= name.value) names_.resize(name.value + 1);
  OperatorCount& counted = names_[name.value];
  if (counted.all_overloads == kNotLookedAt) {
    const std::string_view text = dictionary.text(name), plain = WithoutOverload(text);
    const auto next = static_cast<std::uint32_t>(place_.size());
    counted.all_overloads = place_.try_emplace(std::string(plain), next).first->second;
    counted.has_overload = plain != text;
    all_overloads_.resize(place_.size());
  }
  const std::uint64_t of_all = all_overloads_[counted.all_overloads]++;
  const std::uint64_t of_this = counted.calls++;
  return counted.has_overload ? of_this : of_all;
}

void OperatorNumbers::Clear() {
  for (OperatorCount& counted : names_) counted.calls = 0;
  std::ranges::fill(all_overloads_, 0);
}

}  // namespace memoir
