#include "tools/cli/collect/collect_source.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "absl/status/status.h"
#include "tools/view/terminal/typed_word.h"

namespace memoir {
namespace {

std::string Quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + QuotedForShell(word);
  return line;
}

// Returns true for a word in braces that may be a mistyped placeholder; "${HOME}" and "{a,b}" belong to the shell.
bool IsOurs(const std::string& command, std::size_t open, std::size_t close) {
  if (open > 0 && command[open - 1] == '$') return false;
  return close > open + 1 && command.find_first_not_of("abcdefghijklmnopqrstuvwxyz", open + 1) == close;
}

}  // namespace

const char kDefaultCommand[] =
    "rsync -a --chmod=F600 --timeout=60 --compare-dest={job} --include-from={patterns} --exclude='*' -- {source}/ "
    "{into}/";

CollectSource ParseCollectSource(const std::string& text) {
  if (text.find("://") != std::string::npos) return {text, CollectSourceKind::kAddress, "", text};
  const std::size_t colon = text.find(':');
  // As for rsync and scp, a local path with a colon must be written ./a:b.
  if (colon == std::string::npos || colon == 0 || text.find('/') < colon)
    return {text, CollectSourceKind::kFolder, "", text};
  const std::string folder = text.substr(colon + 1);
  return {text, CollectSourceKind::kHost, text.substr(0, colon), folder.empty() ? "." : folder};
}

absl::StatusOr<std::string> FillCommand(const std::string& command, const CollectSource& source,
                                        const Transfer& transfer) {
  const std::map<std::string, std::string> values = {
      {"source", QuotedForShell(source.text)},   {"host", QuotedForShell(source.host)},
      {"folder", QuotedForShell(source.folder)}, {"patterns", QuotedForShell(transfer.patterns)},
      {"names", Quoted(transfer.names)},         {"into", QuotedForShell(transfer.into)},
      {"job", QuotedForShell(transfer.job)}};
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
