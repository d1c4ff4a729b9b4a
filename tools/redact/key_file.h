// The secret key of redacted captures, and beside it the names that were hashed with it: FILE, and FILE.names. Both are
// for their owner alone (0600), no link is followed, and another user's key is not taken.
//
// Any thread. Every error is one line and says what to do.
#ifndef TOOLS_REDACT_KEY_FILE_H_
#define TOOLS_REDACT_KEY_FILE_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace memoir {

using HashedNames = std::map<std::string, std::string>;  // by hash

// $XDG_CONFIG_HOME/memoir/redact.key, else below ~/.config; "": there is no home.
std::string UsualKeyPath();

// Makes one where there is none, and its folder if that is `memoir` in the usual place.
absl::StatusOr<std::string> ReadOrMakeKey(const std::string& path);

// Adds them to those in FILE.names. While it does, nobody else does with this key.
absl::Status KeepNames(const std::string& key_path, const HashedNames& names);
// NotFound: nothing was hashed with this key.
absl::StatusOr<HashedNames> ReadNames(const std::string& key_path);

// `text` with names in place of their hashes; also of one that a table has cut ("h_01…89ab") where it can be of one
// name alone. Counts hashes that are not among `names`.
struct Revealed {
  std::string text;
  int unknown = 0;
};
Revealed Reveal(std::string_view text, const HashedNames& names);

}  // namespace memoir

#endif  // TOOLS_REDACT_KEY_FILE_H_
