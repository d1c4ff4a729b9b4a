#include "tools/symbolize/function_name.h"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>

namespace memoir {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool IsWord(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Returns the position after the bracket that closes the bracket at `at`. npos if it is not closed.
std::size_t Behind(std::string_view text, std::size_t at) {
  const char open = text[at], close = open == '(' ? ')' : '>';
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == open) ++depth;
    const bool is_arrow = close == '>' && at > 0 && text[at - 1] == '-';
    if (text[at] == close && !is_arrow && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Returns the end of an operator's name: "operator()", "operator<<", "operator bool".
std::size_t OperatorEnd(std::string_view text, std::size_t at) {
  at += kOperator.size();
  if (text.substr(at).starts_with("()")) return at + 2;
  if (at < text.size() && text[at] == ' ') return text.find('(', at);
  while (at < text.size() && text[at] != '(' && text[at] != ' ' && !IsWord(text[at])) ++at;
  return at;
}

bool IsOperator(std::string_view text, std::size_t at) {
  const std::size_t end = at + kOperator.size();
  return text.substr(at).starts_with(kOperator) && (at == 0 || !IsWord(text[at - 1])) && end < text.size() &&
         !IsWord(text[end]);
}

}  // namespace

std::string ShortName(std::string_view text) {
  std::string name;
  for (std::size_t at = 0; at < text.size();) {
    if (IsOperator(text, at)) {
      const std::size_t end = OperatorEnd(text, at);
      if (end == std::string_view::npos) return std::string(text);
      name += text.substr(at, end - at);
      at = end < text.size() && text[end] == ' ' ? end + 1 : end;  // "operator<< <char>"
    } else if (text.substr(at).starts_with(kAnonymous)) {
      name += kAnonymous;
      at += kAnonymous.size();
    } else if (text[at] == '<' || text[at] == '(') {
      const std::size_t end = Behind(text, at);
      if (end == std::string_view::npos) return std::string(text);
      // The name continues after the parameters if it belongs to an object inside of the function, such as a lambda.
      const std::string_view rest = text.substr(end);
      const bool goes_on = text[at] == '<' || name == "decltype" || name.ends_with("{lambda");
      const std::size_t inside = rest.starts_with(" const::") ? end + 6 : end;
      if (!goes_on && !text.substr(inside).starts_with("::")) break;
      at = inside;
    } else if (text[at] == ' ') {
      name.clear();  // removes the return type
      ++at;
    } else {
      name += text[at++];
    }
  }
  return name.empty() ? std::string(text) : name;
}

std::string FunctionName(const char* symbol) {
  // Names of C functions are not mangled, and "f" would demangle to "float".
  if (!std::string_view(symbol).starts_with("_Z")) return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? ShortName(text) : symbol;
  std::free(text);
  return name;
}

}  // namespace memoir
