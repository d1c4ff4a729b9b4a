#include "tools/redact/hashed_words.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tools/model/kernel_name.h"
#include "tools/redact/public_names.h"

namespace memoir {
namespace {

constexpr std::size_t kMostDigits = 5;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsOfWord(char c) { return IsLetter(c) || IsDigit(c); }

// Calls `take` with each piece of `text` between separators, and puts the separators back.
template <class Take>
std::string EachBetween(std::string_view text, std::string_view separator, Take take) {
  std::string all;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    all += take(text.substr(begin, end - begin));
    if (end == text.size()) return all;
    all += separator;
    begin = end + separator.size();
  }
}

// Replaces each identifier by the result of `take`. A quoted text is hashed as a whole.
template <class Take>
std::string EachIdentifier(std::string_view text, NameHashes& hashes, Take take) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"' || text[at] == '\'') {
      end = std::min(text.find(text[at], at + 1), text.size() - 1) + 1;
      all += absl::StrCat("\"", hashes.HashOf(text.substr(at, end - at)), "\"");
    } else if (IsLetter(text[at])) {
      while (end < text.size() && IsOfWord(text[end])) ++end;
      all += take(text.substr(at, end - at));
    } else if (static_cast<unsigned char>(text[at]) >= 0x80) {  // letters of other scripts
      while (end < text.size() && (IsOfWord(text[end]) || static_cast<unsigned char>(text[end]) >= 0x80)) ++end;
      all += hashes.HashOf(text.substr(at, end - at));
    } else {
      all += text[at];
    }
    at = end;
  }
  return all;
}

std::string Counted(std::string_view identifier) { return absl::StrCat(identifier.size(), std::string(identifier)); }

std::string HashedMangled(std::string_view kernel, NameHashes& hashes) {
  std::string_view rest = kernel.substr(2);  // "_Z"
  std::string head = "_Z";
  for (const std::string_view mark : {"N", "St", "L"}) {
    if (!rest.starts_with(mark)) continue;
    head += mark;
    rest.remove_prefix(mark.size());
  }
  bool is_first = true, is_public = head.ends_with("St");
  while (const std::optional<std::string_view> part = TakeIdentifier(rest)) {
    if (std::exchange(is_first, false)) is_public = is_public || IsPublicNamespace(*part);
    head += is_public ? Counted(*part) : Counted(hashes.HashOf(*part));
    if (rest.starts_with('L')) {
      head += 'L';
      rest.remove_prefix(1);
    }
  }
  if (rest.empty()) return head;
  // The rest contains arguments: template arguments if the rest begins with I, otherwise arguments of the function.
  const std::string mark(rest.front() == 'I' || rest.front() == 'E' ? rest.substr(0, 1) : "");
  return absl::StrCat(head, mark, Counted(hashes.HashOf(rest)), mark == "I" ? "E" : "");
}

std::string HashedDemangled(std::string_view kernel, NameHashes& hashes) {
  const std::size_t name = kernel.starts_with("void ") ? 5 : 0;
  const std::size_t end = std::min(kernel.find_first_of("<(", name), kernel.size());
  const std::string_view first = kernel.substr(name, kernel.find("::", name) - name);
  const std::string head =
      IsPublicNamespace(first) ? std::string(kernel.substr(0, end)) : HashedFunction(kernel.substr(0, end), hashes);
  if (end == kernel.size()) return head;
  return absl::StrCat(head, kernel[end] == '<' ? "<" : "(", hashes.HashOf(kernel.substr(end)),
                      kernel[end] == '<' ? ">(...)" : ")");
}

}  // namespace

bool IsDigits(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsDigit); }

std::string HashedWord(std::string_view word, NameHashes& hashes) {
  if (word.empty() || IsPublicName(word) || (IsDigits(word) && word.size() <= kMostDigits)) return std::string(word);
  const std::size_t begin = word.find_first_not_of('_');
  if (begin == std::string_view::npos) return std::string(word);
  const std::size_t end = word.find_last_not_of('_') + 1;
  const std::string_view core = word.substr(begin, end - begin);
  constexpr std::string_view kNode = "Backward";  // torch's ending for the node of a function
  const bool is_node = core.size() > kNode.size() && core.ends_with(kNode);
  const std::string hashed =
      is_node ? hashes.HashOf(core.substr(0, core.size() - kNode.size())) + std::string(kNode) : hashes.HashOf(core);
  return absl::StrCat(std::string(word.substr(0, begin)), hashed, std::string(word.substr(end)));
}

std::string HashedPath(std::string_view dotted, NameHashes& hashes) {
  return EachBetween(dotted, ".", [&](std::string_view word) { return HashedWord(word, hashes); });
}

std::string HashedRoot(std::string_view root, NameHashes& hashes) {
  const std::size_t number = root.rfind('#');
  if (number == std::string_view::npos || !IsDigits(root.substr(number + 1))) return HashedPath(root, hashes);
  return HashedPath(root.substr(0, number), hashes) + std::string(root.substr(number));
}

std::string HashedOperator(std::string_view name, NameHashes& hashes) {
  if (IsPublicName(name)) return std::string(name);
  return EachBetween(name, "::", [&](std::string_view part) {
    return IsPublicNamespace(part) ? std::string(part) : HashedPath(part, hashes);
  });
}

std::string HashedSchema(std::string_view schema, NameHashes& hashes) {
  if (IsPublicName(schema.substr(0, schema.find('(')))) return std::string(schema);
  const std::size_t arguments = std::min(schema.find('('), schema.size());
  return HashedOperator(schema.substr(0, arguments), hashes) +
         EachIdentifier(schema.substr(arguments), hashes, [&](std::string_view word) {
           return IsPublicType(word) ? std::string(word) : HashedWord(word, hashes);
         });
}

std::string HashedFunction(std::string_view function, NameHashes& hashes) {
  return EachIdentifier(function, hashes, [&](std::string_view word) {
    return IsPublicType(word) || IsPublicNamespace(word) ? std::string(word) : HashedWord(word, hashes);
  });
}

std::string HashedKernel(std::string_view kernel, NameHashes& hashes) {
  if (kernel.empty()) return "";
  if (kernel.starts_with("_Z")) return HashedMangled(kernel, hashes);
  if (kernel.starts_with("void ") || kernel.find("::") != std::string_view::npos)
    return HashedDemangled(kernel, hashes);
  return HashedWord(kernel, hashes);
}

std::string HashedText(std::string_view text, NameHashes& hashes) {
  if (text.empty() || IsPublicName(text)) return std::string(text);
  const std::size_t colon = text.find(": ");
  if (colon != std::string_view::npos && IsPublicName(text.substr(0, colon)))
    return absl::StrCat(std::string(text.substr(0, colon)), ": ", hashes.HashOf(text.substr(colon + 2)));
  // A trailing underscore marks an operator that writes in place. Names of ranges follow the same rule.
  const bool writes = text.substr(0, text.find('.')).ends_with('_');
  return hashes.HashOf(text) + (writes ? "_" : "");
}

std::string HashedVersion(std::string_view version, NameHashes& hashes) {
  const auto is_plain = [](std::string_view part) {
    return part.size() <= 24 && std::ranges::all_of(part, [](char c) { return IsDigit(c) || c == '.'; });
  };
  const std::size_t numbers = std::min(version.find_first_not_of("0123456789."), version.size());
  const std::string_view rest = version.substr(numbers);
  constexpr std::string_view kBuilds[] = {"", "+cpu", "rc", "a", "b"};
  bool is_public = std::ranges::any_of(kBuilds, [&](std::string_view build) {
    return rest.starts_with(build) && (rest == build || (!build.empty() && is_plain(rest.substr(build.size()))));
  });
  for (const std::string_view build : {"+cu", "+rocm"})
    is_public = is_public || (rest.starts_with(build) && is_plain(rest.substr(build.size())));
  if (is_public) return std::string(version);
  return absl::StrCat(std::string(version.substr(0, numbers)), "+", hashes.HashOf(rest));
}

}  // namespace memoir
