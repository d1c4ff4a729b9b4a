#include "tools/redact/name_hashes.h"

#include <sodium/crypto_auth_hmacsha256.h>

#include <array>

namespace memoir {

std::string NameHashes::HashDigitsOf(std::string_view name) const {
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> whole;
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, reinterpret_cast<const unsigned char*>(key_.data()), key_.size());
  crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(name.data()), name.size());
  crypto_auth_hmacsha256_final(&state, whole.data());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (std::size_t i = 0; i < kHashDigits / 2; ++i) digits.append({kDigits[whole[i] >> 4], kDigits[whole[i] & 15]});
  return digits;
}

const std::string& NameHashes::HashOf(std::string_view name) {
  const auto [hash, added] = hashes_.try_emplace(std::string(name));
  if (added) hash->second = std::string(kHashStart) + HashDigitsOf(name);
  return hash->second;
}

std::map<std::string, std::string> NameHashes::names() const {
  std::map<std::string, std::string> names;
  for (const auto& [name, hash] : hashes_) names.emplace(hash, name);
  return names;
}

}  // namespace memoir
