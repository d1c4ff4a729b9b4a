// The secret key of redacted captures (FILE), and the names that were hashed with it (FILE.names). Only their owner can
// read these files (mode 0600). Links are not followed, and a key of another user is refused.
//
// Any thread. Every error message is one line with the remedy.
#ifndef TOOLS_REDACT_KEY_FILE_H_
#define TOOLS_REDACT_KEY_FILE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memoir {

using HashedNames = std::map<std::string, std::string>;  // by hash

// Returns the path of the default key: $XDG_CONFIG_HOME/memoir/redact.key, or ~/.config/memoir/redact.key. Empty
// without a home folder.
std::string UsualKeyPath();

// Reads the key. Creates it if the file does not exist, with its folder if the path is UsualKeyPath().
absl::StatusOr<std::string> ReadOrMakeKey(const std::string& path);

// Adds the names to FILE.names. Holds a lock on the key file meanwhile.
absl::Status KeepNames(const std::string& key_path, const HashedNames& names);
// Reads FILE.names. NotFound: no name was hashed with this key.
absl::StatusOr<HashedNames> ReadNames(const std::string& key_path);

// Replaces hashes in `text` by their names. A hash that a table has shortened ("h_01…89ab") is replaced if only one
// name matches. Also counts the whole hashes whose name is unknown.
struct RevealedText {
  std::string text;
  int unknown = 0;
};
RevealedText Reveal(std::string_view text, const HashedNames& names);

}  // namespace memoir

#endif  // TOOLS_REDACT_KEY_FILE_H_
