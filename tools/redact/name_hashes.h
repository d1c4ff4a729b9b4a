// Names as hashes of a secret key: HMAC-SHA256, of which 48 bits stay. One name gives one hash wherever it stands and
// in whichever capture, while the key is the same; without the key nobody can try names out.
//
// Used by one thread.
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

  // "h_0123456789ab"
  const std::string& Of(std::string_view name);
  // Its digits alone, and not among names(): of what no person would look up.
  std::string DigitsOf(std::string_view name) const;
  // By hash, each name that was hashed.
  std::map<std::string, std::string> names() const;

 private:
  const std::string key_;
  absl::flat_hash_map<std::string, std::string> hashes_;  // by name
};

}  // namespace memoir

#endif  // TOOLS_REDACT_NAME_HASHES_H_
