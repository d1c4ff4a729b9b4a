#include "tools/view/terminal/shortened_names.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// The characters of a name, and which of them stay.
struct Name {
  std::vector<std::string> characters;
  std::vector<bool> kept;
};

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

Name NameOf(const std::string& text) {
  Name name;
  for (const char byte : text) {
    if (name.characters.empty() || !Continues(byte)) name.characters.emplace_back();
    name.characters.back() += byte;
  }
  name.kept.resize(name.characters.size());
  return name;
}

std::string TextOf(const Name& name) {
  std::string text;
  for (std::size_t i = 0; i < name.kept.size(); ++i) {
    if (name.kept[i]) {
      text += name.characters[i];
    } else if (i == 0 || name.kept[i - 1]) {
      text += "…";
    }
  }
  return text;
}

std::string CutAtEnd(const std::string& text, std::size_t width) {
  if (DisplayWidth(text) <= width) return text;
  std::string cut;
  std::size_t columns = 1;  // 1: the ellipsis
  for (const std::string& character : NameOf(text).characters) {
    columns += DisplayWidth(character);
    if (columns > width) break;
    cut += character;
  }
  return cut + "…";
}

// Keeps further characters, from both ends in turn, as long as the name fits into `width` columns. Returns the text.
std::string Filled(Name name, std::size_t width) {
  if (DisplayWidth(TextOf(name)) > width) return Shortened(TextOf(name), width);
  const std::size_t size = name.kept.size();
  bool from_left = true, other_failed = false;
  while (true) {
    std::size_t at = 0;
    while (at < size && name.kept[from_left ? at : size - 1 - at]) ++at;
    if (at == size) break;
    const std::size_t place = from_left ? at : size - 1 - at;
    name.kept[place] = true;
    const bool failed = DisplayWidth(TextOf(name)) > width;
    name.kept[place] = !failed;
    if (failed && other_failed) break;
    other_failed = failed;
    from_left = !from_left;
  }
  return TextOf(name);
}

// Keeps the part in which the names with the indices `members` differ. Whole parts between dots are kept, so that
// numbers are not cut, unless this takes most of the room.
void KeepDifference(const std::vector<std::size_t>& members, std::size_t width, std::vector<Name>& names) {
  const auto& first = names[members.front()].characters;
  std::size_t head = first.size(), tail = first.size();
  for (const std::size_t i : members) {
    const auto& other = names[i].characters;
    if (other == first) continue;
    const auto from_begin = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
    const auto from_end = std::mismatch(first.rbegin(), first.rend(), other.rbegin(), other.rend());
    head = std::min(head, static_cast<std::size_t>(from_begin.first - first.begin()));
    tail = std::min(tail, static_cast<std::size_t>(from_end.first - first.rbegin()));
  }
  for (const std::size_t i : members) {
    const auto& own = names[i].characters;
    std::size_t begin = std::min(head, own.size()), end = own.size() - std::min(tail, own.size() - begin);
    const std::size_t narrow_begin = begin, narrow_end = end;
    while (begin > 0 && own[begin - 1] != ".") --begin;
    while (end < own.size() && own[end] != ".") ++end;
    if (end - begin > width / 2) begin = narrow_begin, end = std::max(narrow_end, narrow_begin);
    if (begin > 0 && own[begin - 1] == ".") --begin;
    if (end < own.size() && own[end] == ".") ++end;
    std::fill(names[i].kept.begin() + static_cast<std::ptrdiff_t>(begin),
              names[i].kept.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
}

}  // namespace

std::vector<std::string> CutApart(const std::vector<std::string>& texts, std::size_t width) {
  std::vector<std::string> shown;
  std::map<std::string, const std::string*> whole;
  for (const std::string& text : texts) {
    shown.push_back(CutAtEnd(text, width));
    const auto [known, added] = whole.try_emplace(shown.back(), &text);
    if (!added && *known->second != text) return ShortenedApart(texts, width);
  }
  return shown;
}

std::vector<std::string> ShortenedApart(const std::vector<std::string>& texts, std::size_t width) {
  constexpr int kMostRounds = 4;  // names that differ in several places take several rounds
  std::vector<std::string> shown;
  std::vector<Name> names;
  for (const std::string& text : texts) {
    shown.push_back(Shortened(text, width));
    names.push_back(NameOf(text));
  }
  for (int round = 0; round < kMostRounds; ++round) {
    std::map<std::string, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < shown.size(); ++i) alike[shown[i]].push_back(i);
    bool changed = false;
    for (const auto& [text, members] : alike) {
      const auto differs = [&](std::size_t i) { return texts[i] != texts[members.front()]; };
      if (std::ranges::none_of(members, differs)) continue;
      changed = true;
      KeepDifference(members, width, names);
      for (const std::size_t i : members) shown[i] = Filled(names[i], width);
    }
    if (!changed) break;
  }
  return shown;
}

}  // namespace memoir
