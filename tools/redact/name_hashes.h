// Hashes names with a secret key: HMAC-SHA256, cut to 48 bits. With the same key, a name has the same hash in every
// capture. Without the key, a guessed name cannot be checked.
//
// One thread.
#ifndef TOOLS_REDACT_NAME_HASHES_H_
#define TOOLS_REDACT_NAME_HASHES_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace memoir {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::string_view kHashStart = "h_";
inline constexpr std::size_t kHashDigits = 12;
inline constexpr std::size_t kHashLength = kHashStart.size() + kHashDigits;

class NameHashes {
 public:
  explicit NameHashes(std::string key) : key_(std::move(key)) {}

  // Returns "h_0123456789ab", and stores the name for names().
  const std::string& HashOf(std::string_view name);
  // Returns only the digits and does not store the name: for values that readers need not look up.
  std::string HashDigitsOf(std::string_view name) const;
  // Returns the stored names, by hash.
  std::map<std::string, std::string> names() const;

 private:
  const std::string key_;
  absl::flat_hash_map<std::string, std::string> hashes_;  // by name
};

}  // namespace memoir

#endif  // TOOLS_REDACT_NAME_HASHES_H_
