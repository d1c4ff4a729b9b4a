// memoir reveal: replaces the hashes of a redacted capture by the names, for users who have its key.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/arguments/arguments.h"
#include "tools/cli/arguments/verbs.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/redact/key_file.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "reveal",
    .usage = "reveal [OPTIONS] [TEXT...]",
    .description =
        "Replace the hashes (h_0123456789ab) of memoir export redacted by the names. TEXT is a hash, or a path or a "
        "sentence with hashes in it; without one, standard input is copied. The names are in a file next to the key. "
        "Exit code 1: a hash belongs to another key.",
    .examples =
        "  memoir reveal h_5f2e0a91c37d.0.h_9a41d6c07be2\n"
        "  memoir check redacted7 | memoir reveal --key project.key\n",
};

// Escapes characters that would move a terminal's cursor or end a JSON string, because names are untrusted.
HashedNames ForTerminals(HashedNames names) {
  for (auto& [hash, name] : names) name = Escaped(name);
  return names;
}

int WriteRevealed(std::string_view text, const HashedNames& names, bool* all_known) {
  const RevealedText revealed = Reveal(text, names);
  *all_known = *all_known && revealed.unknown == 0;
  return WriteOutput(revealed.text);
}

// Works line by line, because no hash spans two lines.
int RevealInput(const HashedNames& names, bool* all_known) {
  std::string rest;
  std::array<char, 1u << 16> piece{};
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      PrintMessage(std::string("cannot read standard input: ") + std::strerror(errno));
      return kExitError;
    }
    if (got == 0) return rest.empty() ? kExitFine : WriteRevealed(rest, names, all_known);
    rest.append(piece.data(), static_cast<std::size_t>(got));
    const std::size_t end = rest.rfind('\n');
    if (end == std::string::npos) continue;
    const int code = WriteRevealed(std::string_view(rest).substr(0, end + 1), names, all_known);
    if (code != kExitFine) return code;
    rest.erase(0, end + 1);
  }
}

}  // namespace

int RevealVerb(const std::vector<std::string>& arguments) {
  const auto app = MakeArguments(kHelp);
  std::string key;
  std::vector<std::string> texts;
  app->add_option("TEXT", texts, "with hashes in it [standard input]");
  app->add_option("--key", key, "the key that the capture was redacted with [~/.config/memoir/redact.key]");
  if (const auto code = ParseArguments(*app, "reveal", arguments)) return *code;
  if (key.empty()) key = UsualKeyPath();
  if (key.empty()) return FailUsage("reveal", "there is no home folder with a key: add --key FILE");
  absl::StatusOr<HashedNames> read = ReadNames(key);
  if (!read.ok()) return Fail(read.status());
  const HashedNames names = ForTerminals(*std::move(read));
  bool all_known = true;
  int code = kExitFine;
  for (const std::string& text : texts) code = code == kExitFine ? WriteRevealed(text + "\n", names, &all_known) : code;
  if (texts.empty()) code = RevealInput(names, &all_known);
  if (code == kExitFine && !all_known) {
    PrintMessage("a hash is not in " + key + ".names: it belongs to another key; name that key with --key");
    return kExitError;
  }
  return code;
}

}  // namespace memoir
