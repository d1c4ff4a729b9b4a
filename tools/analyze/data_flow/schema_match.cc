#include "tools/analyze/data_flow/schema_match.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace memoir {
namespace {

// Returns the position of the first `wanted` at or after `from` that is outside of brackets and quotes. The size of
// `text` if there is no such position.
std::size_t FindOutside(std::string_view text, char wanted, std::size_t from) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && c == wanted) return i;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return text.size();
}

// Returns "Tensor[]" for "Tensor(a!)[]". Sets `written` if the parentheses contain a '!'.
std::string WithoutAliases(std::string_view type, bool* written) {
  std::string plain;
  int depth = 0;
  for (const char c : type) {
    if (c == '(') ++depth;
    if (depth == 0) plain += c;
    if (depth > 0 && c == '!') *written = true;
    if (c == ')') --depth;
  }
  return plain;
}

ArgumentType TypeOf(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, ArgumentType>, 14> kNames = {{
      {"Tensor", ArgumentType::kTensor},
      {"int", ArgumentType::kInt},
      {"SymInt", ArgumentType::kInt},
      {"ScalarType", ArgumentType::kInt},
      {"Layout", ArgumentType::kInt},
      {"MemoryFormat", ArgumentType::kInt},
      {"float", ArgumentType::kFloat},
      {"SymFloat", ArgumentType::kFloat},
      {"bool", ArgumentType::kBool},
      {"SymBool", ArgumentType::kBool},
      {"complex", ArgumentType::kComplex},
      {"Scalar", ArgumentType::kNumber},
      {"NoneType", ArgumentType::kNone},
      {"Any", ArgumentType::kAny},
  }};
  if (type.ends_with(']')) {
    const std::string_view element = type.substr(0, type.rfind('['));
    if (element == "Tensor") return ArgumentType::kTensorList;
    return element == "Tensor?" ? ArgumentType::kOptionalTensorList : ArgumentType::kOther;
  }
  const auto* known = std::ranges::find(kNames, type, [](const auto& name) { return name.first; });
  return known == kNames.end() ? ArgumentType::kOther : known->second;
}

SchemaArgument ParseArgument(std::string_view text) {
  text = text.substr(0, FindOutside(text, '=', 0));
  std::size_t end = text.size();  // end of the type; the name after it contains no space
  for (std::size_t i = FindOutside(text, ' ', 0); i < text.size(); i = FindOutside(text, ' ', i + 1)) end = i;
  SchemaArgument argument;
  std::string type = WithoutAliases(text.substr(0, end), &argument.written);
  if (type.ends_with('?')) {
    argument.optional = true;
    type.pop_back();
  }
  argument.type = TypeOf(type);
  return argument;
}

bool Fits(const SchemaArgument& argument, char kind) {
  // torch.profiler shows arguments of these kinds: tensors, lists of tensors, numbers, bools.
  const bool shown = std::string_view("TLybidc").find(kind) != std::string_view::npos;
  if (argument.optional && !shown) return true;
  switch (argument.type) {
    case ArgumentType::kAny:
      return true;
    case ArgumentType::kTensorList:
      return kind == 'L';
    case ArgumentType::kTensor:
      return kind == 'T';
    case ArgumentType::kBool:
      return kind == 'b';
    case ArgumentType::kInt:
      return kind == 'i' || kind == 'b';  // in Python a bool is an int
    case ArgumentType::kFloat:
      return kind == 'd';
    case ArgumentType::kComplex:
      return kind == 'c';
    case ArgumentType::kNumber:
      return kind == 'b' || kind == 'i' || kind == 'd' || kind == 'c';
    case ArgumentType::kNone:
    case ArgumentType::kOptionalTensorList:
    case ArgumentType::kOther:
      return !shown;
  }
  return false;
}

}  // namespace

std::vector<SchemaArgument> ParseSchemaArguments(std::string_view schema) {
  std::vector<SchemaArgument> arguments;
  const std::size_t open = schema.find('(');
  if (open == std::string_view::npos) return arguments;
  const std::string_view inside = schema.substr(open + 1, FindOutside(schema, ')', open + 1) - open - 1);
  for (std::size_t begin = 0; begin < inside.size();) {
    const std::size_t end = FindOutside(inside, ',', begin);
    std::string_view text = inside.substr(begin, end - begin);
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (text != "*") arguments.push_back(ParseArgument(text));
    begin = end + 1;
  }
  return arguments;
}

std::string_view OverloadOf(std::string_view schema) {
  schema = schema.substr(0, schema.find('('));
  const std::size_t colons = schema.find("::");
  const std::size_t dot = schema.find('.', colons == std::string_view::npos ? 0 : colons);
  return dot == std::string_view::npos ? std::string_view() : schema.substr(dot + 1);
}

bool FitsSchema(const std::vector<SchemaArgument>& schema, std::string_view kinds) {
  if (schema.size() != kinds.size()) return false;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    if (!Fits(schema[i], kinds[i])) return false;
  }
  return true;
}

OperatorSchemas ParseSchemas(const Schema& schema) {
  OperatorSchemas schemas;
  schemas.own = ParseSchemaArguments(schema.text);
  const auto add = [&](const std::string& text) {
    schemas.overloads.emplace_back(OverloadOf(text), ParseSchemaArguments(text));
  };
  for (const std::string& text : schema.overloads) add(text);
  if (schema.overloads.empty()) add(schema.text);
  return schemas;
}

SchemaMatch MatchSchemas(const OperatorSchemas* schemas, std::string_view kinds) {
  using Mutation = SchemaMatch::Mutation;
  SchemaMatch match;
  match.written.assign(kinds.size(), Mutation::kUnknown);
  if (schemas == nullptr) return match;
  for (const auto& [name, schema] : schemas->overloads) {
    if (!FitsSchema(schema, kinds)) continue;
    match.overloads.push_back(name);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (schema[i].written) match.written[i] = Mutation::kYes;
      if (match.written[i] == Mutation::kUnknown) match.written[i] = Mutation::kNo;
    }
  }
  return match;
}

}  // namespace memoir
