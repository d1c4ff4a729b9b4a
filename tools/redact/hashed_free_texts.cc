#include "tools/redact/hashed_free_texts.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/model/full_steps_note.h"
#include "tools/redact/hashed_paths.h"
#include "tools/redact/hashed_words.h"
#include "tools/redact/public_names.h"

namespace memoir {
namespace {

constexpr std::string_view kCompiler = "torch.compile: ";

bool ConsistsOf(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == std::string_view::npos;
}

bool IsDotted(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return ConsistsOf(text, kLetters);
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> fields;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  fields.push_back(text);
  return fields;
}

// Redacts a field of a note: a path, a name with dots, or an operation.
std::string HashedField(std::string_view field, NameHashes& hashes) {
  if (field.find('/') != std::string_view::npos || field.ends_with(".py") || field.starts_with('<'))
    return HashedFileOf(field, hashes).path;
  constexpr std::string_view kOperation = "aten.";
  if (field.starts_with(kOperation) && IsPublicName("aten::" + std::string(field.substr(kOperation.size()))))
    return std::string(field);
  return IsDotted(field) ? HashedPath(field, hashes) : HashedText(field, hashes);
}

// Redacts a row of "torch.compile: code" (docs/event_schema.md). Numbers stay.
std::string HashedRow(std::string_view row, NameHashes& hashes) {
  std::vector<std::string> fields;
  const std::vector<std::string_view> given = Split(row, '\t');
  const bool texts = given[0] == "t" || given[0] == "code";
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool kept = i == 0 ? given[0].size() == 1 || given[0] == "code" : !texts && IsDigits(given[i]);
    fields.push_back(kept ? std::string(given[i]) : HashedField(given[i], hashes));
  }
  return absl::StrJoin(fields, "\t");
}

// Redacts a row about a compilation, with the fields kind, id, function, file, line, reason and failure.
std::string HashedCompilation(std::string_view row, NameHashes& hashes) {
  const std::vector<std::string_view> given = Split(row, '\t');
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool kept = i == 0 || ((i == 1 || i == 4) && ConsistsOf(given[i], "0123456789/_!"));
    fields.push_back(kept               ? std::string(given[i])
                     : i == 2 || i == 3 ? HashedField(given[i], hashes)
                                        : HashedText(given[i], hashes));
  }
  return absl::StrJoin(fields, "\t");
}

std::string HashedCompilerRange(std::string_view name, NameHashes& hashes) {
  if (name.starts_with("code\t")) {
    std::vector<std::string> rows;
    for (const std::string_view row : Split(name, '\n')) rows.push_back(HashedRow(row, hashes));
    return absl::StrJoin(rows, "\n");
  }
  for (const std::string_view kind : {"forward\t", "backward\t", "break\t"}) {
    if (name.starts_with(kind)) return HashedCompilation(name, hashes);
  }
  // These words mark work that measures several kernels to choose the fastest, so they stay.
  for (const std::string_view word : {"autotun", "Autotun", "benchmark", "coordinate_descent"}) {
    const bool tunes = name.find(word) != std::string_view::npos && name.find('{') == std::string_view::npos;
    if (tunes) return absl::StrCat(std::string(word), " ", hashes.HashOf(name));
  }
  return hashes.HashOf(name);
}

// Returns `text` with the part after `start` hashed by `how`. Empty if `text` does not begin with `start`.
template <class How>
std::string Behind(std::string_view start, std::string_view text, How how) {
  return text.starts_with(start) ? std::string(start) + how(text.substr(start.size())) : "";
}

// Redacts "NAME enters layers.0", the rest of a mark "memoir.MemoryTracker#...".
std::string HashedTrackerMark(std::string_view rest, NameHashes& hashes) {
  constexpr std::string_view kEnters = " enters ";
  for (const std::string_view what : {" begins", " ends", " leaves"}) {
    if (rest.ends_with(what)) return HashedText(rest.substr(0, rest.size() - what.size()), hashes) + std::string(what);
  }
  const std::size_t at = rest.find(kEnters);
  if (at == std::string_view::npos) return HashedText(rest, hashes);
  return absl::StrCat(HashedText(rest.substr(0, at), hashes), std::string(kEnters),
                      HashedPath(rest.substr(at + kEnters.size()), hashes));
}

// Redacts a range of FSDP: "FSDP::pre_forward (layers.0)".
std::string HashedSharding(std::string_view text, NameHashes& hashes) {
  const std::size_t at = text.find(" (");
  if (at == std::string_view::npos || !IsPublicName(text.substr(0, at))) return HashedText(text, hashes);
  const std::string_view inside = text.substr(at + 2);
  const bool closed = inside.ends_with(')');
  return absl::StrCat(std::string(text.substr(0, at)), " (",
                      HashedPath(inside.substr(0, inside.size() - (closed ? 1 : 0)), hashes), closed ? ")" : "");
}

// Redacts "7f0000001000,7f0000002000 losses[...] (list, global of train.py)".
std::string HashedHolder(std::string_view rest, NameHashes& hashes) {
  const std::size_t at = std::min(rest.find(' '), rest.size());
  return absl::StrCat(std::string(rest.substr(0, at)), " ",
                      HashedText(rest.substr(std::min(at + 1, rest.size())), hashes));
}

bool IsNumbered(std::string_view text) {
  constexpr std::string_view kNumbers = "0123456789/_ []!";
  for (const std::string_view start : {std::string_view("ProfilerStep#"), std::string_view("Torch-Compiled Region: "),
                                       std::string_view("compile id "), kFullStepsNote}) {
    if (text.starts_with(start)) return ConsistsOf(text.substr(start.size()), kNumbers);
  }
  return false;
}

}  // namespace

std::string HashedFreeText(std::string_view text, NameHashes& hashes) {
  if (text.empty() || IsPublicName(text) || IsNumbered(text)) return std::string(text);
  const auto path = [&](std::string_view rest) { return HashedPath(rest, hashes); };
  const auto whole = [&](std::string_view rest) { return HashedText(rest, hashes); };
  std::string found = Behind(kCompiler, text, [&](std::string_view rest) { return HashedCompilerRange(rest, hashes); });
  if (found.empty())
    found =
        Behind("memoir.MemoryTracker#", text, [&](std::string_view rest) { return HashedTrackerMark(rest, hashes); });
  if (found.empty())
    found = Behind("memoir.held_by ", text, [&](std::string_view rest) { return HashedHolder(rest, hashes); });
  if (found.empty())
    found = Behind("autograd::engine::evaluate_function: ", text,
                   [&](std::string_view rest) { return HashedFreeText(rest, hashes); });
  for (const std::string_view start : {"Optimizer.step#", "Optimizer.zero_grad#", "enumerate(DataLoader)#"}) {
    if (found.empty()) found = Behind(start, text, path);
  }
  for (const std::string_view start : {"Torch-Compiled Region", "CompiledFunction", "ProfilerStep", "profiler::"}) {
    if (found.empty()) found = Behind(start, text, whole);
  }
  if (!found.empty()) return found;
  if (text.starts_with("FSDP::")) {
    const std::string hashed = HashedSharding(text, hashes);
    return hashed.starts_with("FSDP::") ? hashed : "FSDP::" + hashed;
  }
  if (text.starts_with("_Z") || text.starts_with("void ")) return HashedKernel(text, hashes);
  if (text.starts_with('/')) return HashedFileOf(text, hashes).path;
  if (IsLibraryName(text)) return HashedFileOf(text, hashes).path;
  constexpr std::string_view kOfEngine = "autograd::engine::";
  if (text.starts_with(kOfEngine)) return Behind(kOfEngine, text, whole);
  if (text.find("::") != std::string_view::npos && text.find_first_of("<( ") == std::string_view::npos)
    return HashedOperator(text, hashes);
  return IsDotted(text) ? HashedPath(text, hashes) : HashedText(text, hashes);
}

std::string HashedThread(std::string_view name, NameHashes& hashes) {
  for (const std::string_view start :
       {"pt_autograd_", "python", "Thread-", "pt_data_worker", "pt_data_pin", "pt_main_thread"}) {
    if (name.starts_with(start) && ConsistsOf(name.substr(start.size()), "0123456789.")) return std::string(name);
  }
  constexpr std::string_view kOfEngine = "pt_autograd_";  // readers recognise the engine's threads by this prefix
  if (name.starts_with(kOfEngine)) return absl::StrCat(std::string(kOfEngine), hashes.HashOf(name));
  return HashedFileOf(name, hashes).path;
}

}  // namespace memoir
