#include "tools/redact/hashed_paths.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/redact/hashed_words.h"
#include "tools/redact/public_names.h"

namespace memoir {
namespace {

using PathParts = std::vector<std::string_view>;

PathParts SplitAtSlashes(std::string_view path) {
  PathParts parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    if (end == path.size()) return parts;
    begin = end + 1;
  }
}

bool IsPackages(std::string_view part) { return part == "site-packages" || part == "dist-packages"; }

// Returns the index of the first public folder, from which on the path is public. parts.size() if the path is private.
std::size_t PublicFrom(const PathParts& parts) {
  const auto at = [&](std::size_t i) { return i < parts.size() ? parts[i] : std::string_view(); };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (IsPackages(parts[i]) && (at(i + 1) == "torch" || at(i + 1) == "memoir" || at(i + 1) == "_torch_memoir"))
      return i + 1;
    if (parts[i] != "lib" && parts[i] != "lib64") continue;
    if (at(i + 1) == "memoir" && at(i + 2) == "python") return i + 1;
    const bool is_python = at(i + 1).starts_with("python") && IsPublicFolder(at(i + 1));
    if (is_python && i + 2 < parts.size() && !IsPackages(at(i + 2))) return i + 1;
  }
  return parts.size();
}

// Returns true for inductor's generated code, whose file names are hashes of its content and reveal nothing.
bool IsOfInductor(const PathParts& parts) {
  if (parts.size() < 2) return false;
  const std::string_view name = parts.back(), folder = parts[parts.size() - 2];
  return name.size() == 55 && name.ends_with(".py") && name.front() == 'c' && folder.size() == 2 &&
         name.substr(1, 2) == folder && std::ranges::all_of(name.substr(0, 52), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
         });
}

std::string HashedFolder(std::string_view folder, NameHashes& hashes) {
  constexpr std::string_view kInductor = "torchinductor_";
  if (folder.starts_with(kInductor))
    return std::string(kInductor) + HashedWord(folder.substr(kInductor.size()), hashes);
  return IsPublicFolder(folder) ? std::string(folder) : HashedText(folder, hashes);
}

// Redacts the part before ".so": "libnccl.so.2", "libgomp-a34b3233.so.1".
std::string HashedLibrary(std::string_view name, NameHashes& hashes) {
  const std::size_t dot = name.find(".so");
  const std::string_view stem = name.substr(0, dot), version = name.substr(dot);
  const bool numbers = version.substr(3).find_first_not_of("0123456789.") == std::string_view::npos;
  const std::string end(numbers ? version : version.substr(0, 3));
  const std::string_view library = PublicLibrary(stem);
  const std::string_view rest = stem.substr(library.size());
  // A wheel's copy of a library has a hash in its name.
  const bool is_copy = rest.size() == 9 && rest.front() == '-' &&
                       rest.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  const bool is_version = rest.find_first_not_of("-.0123456789") == std::string_view::npos;
  if (numbers && !library.empty() && (is_copy || is_version)) return std::string(name);
  return absl::StrCat(std::string(library), library.empty() ? "" : "-",
                      hashes.HashOf(numbers ? rest : name.substr(library.size())), end);
}

std::string HashedFileName(std::string_view name, NameHashes& hashes) {
  if (IsPublicName(name) || name.empty()) return std::string(name);
  if (IsLibraryName(name)) return HashedLibrary(name, hashes);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !IsPublicExtension(name.substr(dot + 1)))
    return HashedFolder(name, hashes);
  return absl::StrCat(HashedWord(name.substr(0, dot), hashes), std::string(name.substr(dot)));
}

// Redacts "<frozen importlib._bootstrap>" and the texts of exec() and notebooks.
HashedFile HashedPlace(std::string_view place, NameHashes& hashes) {
  constexpr std::string_view kTraced = "<eval_with_key>", kAttrs = "<attrs generated ";
  if (place.starts_with("<frozen ") || place == "<__array_function__ internals>") return {std::string(place), true};
  if (place.starts_with(kTraced) && place.find_first_not_of(".0123456789", kTraced.size()) == std::string_view::npos)
    return {std::string(place), true};
  const std::string_view start = place.starts_with(kAttrs) ? kAttrs : "<";
  return {absl::StrCat(std::string(start), hashes.HashOf(place.substr(start.size())), ">"), false};
}

}  // namespace

bool IsLibraryName(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return false;
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

HashedFile HashedFileOf(std::string_view path, NameHashes& hashes) {
  if (path.empty() || IsPublicName(path)) return {std::string(path), false};
  if (path.starts_with('<') && path.find('/') == std::string_view::npos) return HashedPlace(path, hashes);
  const PathParts parts = SplitAtSlashes(path);
  const std::size_t from = PublicFrom(parts);
  const bool is_inductor = IsOfInductor(parts);
  std::string hashed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool kept = i >= from || (is_inductor && i + 2 >= parts.size());
    if (i > 0) hashed += '/';
    // In a source tree of torch that is not installed, these two folders also stay.
    const bool of_torch = i > 0 && parts[i - 1] == "torch" && (parts[i] == "nn" || parts[i] == "optim");
    if (kept || of_torch) {
      hashed += parts[i];
    } else if (i + 1 == parts.size()) {
      hashed += HashedFileName(parts[i], hashes);
    } else {
      hashed += parts[i].starts_with('_') ? HashedWord(parts[i], hashes) : HashedFolder(parts[i], hashes);
    }
  }
  const bool is_system = IsLibraryName(parts.back()) && hashed.ends_with(parts.back());
  return {hashed, from < parts.size() || is_system};
}

std::string HashedCode(std::string_view function, NameHashes& hashes) {
  constexpr std::string_view kObject = " object>", kResume = "torch_dynamo_resume_in_";
  if (function.empty() || IsPublicName(function)) return std::string(function);
  if (function.starts_with('<') && function.ends_with(kObject))
    return absl::StrCat("<", hashes.HashOf(function.substr(1, function.size() - 1 - kObject.size())),
                        std::string(kObject));
  if (function.starts_with("<built-in ")) return absl::StrCat("<built-in function ", hashes.HashOf(function), ">");
  if (function.starts_with(kResume)) {
    const std::size_t at = function.rfind("_at_");
    if (at != std::string_view::npos && at > kResume.size() && IsDigits(function.substr(at + 4)))
      return absl::StrCat(std::string(kResume),
                          HashedPath(function.substr(kResume.size(), at - kResume.size()), hashes),
                          std::string(function.substr(at)));
  }
  return HashedPath(function, hashes);
}

}  // namespace memoir
