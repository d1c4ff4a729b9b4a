#include "tools/cli/collect/source.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"

namespace memoir {
namespace {

std::string Quoted(const std::string& word) { return "'" + absl::StrReplaceAll(word, {{"'", "'\\''"}}) + "'"; }

std::string Quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + Quoted(word);
  return line;
}

// A word in braces that could be meant for one of ours; "${HOME}" and "{a,b}" are the shell's.
bool IsOurs(const std::string& command, std::size_t open, std::size_t close) {
  if (open > 0 && command[open - 1] == '$') return false;
  return close > open + 1 && command.find_first_not_of("abcdefghijklmnopqrstuvwxyz", open + 1) == close;
}

}  // namespace

const char kDefaultCommand[] =
    "rsync -a --chmod=F600 --timeout=60 --compare-dest={job} --include-from={patterns} --exclude='*' -- {source}/ "
    "{into}/";

Source SourceOf(const std::string& text) {
  if (text.find("://") != std::string::npos) return {text, SourceKind::kAddress, "", text};
  const std::size_t colon = text.find(':');
  // As rsync and scp have it: a path with a colon is written ./a:b.
  if (colon == std::string::npos || colon == 0 || text.find('/') < colon) return {text, SourceKind::kFolder, "", text};
  const std::string folder = text.substr(colon + 1);
  return {text, SourceKind::kHost, text.substr(0, colon), folder.empty() ? "." : folder};
}

absl::StatusOr<std::string> Filled(const std::string& command, const Source& source, const Transfer& transfer) {
  const std::map<std::string, std::string> values = {
      {"source", Quoted(source.text)},   {"host", Quoted(source.host)},
      {"folder", Quoted(source.folder)}, {"patterns", Quoted(transfer.patterns)},
      {"names", Quoted(transfer.names)}, {"into", Quoted(transfer.into)},
      {"job", Quoted(transfer.job)}};
  std::string line;
  std::size_t at = 0;
  while (at < command.size()) {
    const std::size_t open = command.find('{', at);
    const std::size_t close = open == std::string::npos ? open : command.find('}', open);
    if (close == std::string::npos) break;
    line += command.substr(at, open - at);
    at = close + 1;
    if (!IsOurs(command, open, close)) {
      line += command.substr(open, at - open);
      continue;
    }
    const std::string name = command.substr(open + 1, close - open - 1);
    const auto value = values.find(name);
    if (value == values.end())
      return absl::InvalidArgumentError("--with: {" + name +
                                        "} is none of {source}, {host}, {folder}, {patterns}, {names}, {into}, {job}");
    line += value->second;
  }
  return line + command.substr(std::min(at, command.size()));
}

}  // namespace memoir
