#include "tracker/stacks/code_text.h"

#include <cstdint>
#include <cstring>

namespace memoir {
namespace {

// Offsets in a PyASCIIObject, equal in Python 3.10 to 3.14. kLength: offset of the length. kState: offset of bits that
// include the width of the characters.
constexpr std::size_t kLength = 16, kState = 32;

struct State {
  std::uint32_t width;
  bool compact, ascii;
};

State StateIn(std::uint32_t bits) { return {bits & 7, (bits & 8) != 0, (bits & 16) != 0}; }
bool IsSound(const State& state) { return state.compact && (state.width == 1 || state.width == 2 || state.width == 4); }

// In the state, the width follows bits about interning. There are two such bits, or 16 in some releases of Python 3.14.
// So this function reads the width behind two bits, and if that is not a valid width, behind 16 bits.
State StateOf(const char* object) {
  std::uint32_t bits;
  std::memcpy(&bits, object + kState, sizeof bits);
  const State state = StateIn(bits >> 2);
  return IsSound(state) ? state : StateIn(bits >> 16);
}

std::size_t Encode(std::uint32_t character, char (&to)[4]) {
  const auto put = [&to](std::size_t at, std::uint32_t byte) { to[at] = static_cast<char>(byte); };
  const auto rest = [character](unsigned shift) { return 0x80u | (character >> shift & 0x3fu); };
  if (character < 0x80) return put(0, character), 1;
  if (character < 0x800) return put(0, 0xc0 | character >> 6), put(1, rest(0)), 2;
  if (character < 0x10000) return put(0, 0xe0 | character >> 12), put(1, rest(6)), put(2, rest(0)), 3;
  return put(0, 0xf0 | (character >> 18 & 7)), put(1, rest(12)), put(2, rest(6)), put(3, rest(0)), 4;
}

std::uint32_t CharacterAt(const char* text, std::uint32_t width, std::size_t index) {
  std::uint32_t character = 0;
  std::memcpy(&character, text + index * width, width);  // all supported machines are little-endian
  return character;
}

}  // namespace

std::size_t CopyText(const FrameLayout& layout, const char* object, char* to, std::size_t size) {
  *to = '\0';
  if (object == nullptr) return 0;
  const State state = StateOf(object);
  if (!IsSound(state)) return 0;
  std::int64_t length;
  std::memcpy(&length, object + kLength, sizeof length);
  const char* text = object + (state.ascii ? layout.ascii_text : layout.other_text);
  std::size_t used = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    char bytes[4];
    const std::size_t count = Encode(CharacterAt(text, state.width, static_cast<std::size_t>(i)), bytes);
    if (used + count >= size) break;
    std::memcpy(to + used, bytes, count);
    used += count;
  }
  to[used] = '\0';
  return used;
}

}  // namespace memoir
