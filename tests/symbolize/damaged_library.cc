// A library whose debug information damage_test.cc damages: with inlined functions, templates and lambdas.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace sample {

template <class Value>
inline Value Twice(const Value& value) {
  return value + value;
}

int Sorted(std::vector<int>& values) {
  std::sort(values.begin(), values.end(), [](int a, int b) { return Twice(a) < Twice(b); });
  return values.empty() ? 0 : values.front();
}

std::string Joined(const std::map<std::string, int>& values) {
  std::string text;
  for (const auto& [name, number] : values) text += Twice(name) + std::to_string(number);
  return text;
}

}  // namespace sample
