#include "tools/analyze/compare/match/line_match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tools/analyze/pass/layer_pattern.h"

namespace memoir {
namespace {

using LineNumber = std::int64_t;
// The lines of one function: line number, and index in the span of all lines.
using LinesByNumber = std::map<LineNumber, std::size_t>;
using IndexPairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Returns how many names of folders and files, counted from the end, two paths have in common.
std::size_t CommonEnd(std::string_view a, std::string_view b) {
  std::size_t parts = 0, same = 0;
  while (same < a.size() && same < b.size() && a[a.size() - 1 - same] == b[b.size() - 1 - same]) {
    if (a[a.size() - 1 - same] == '/') ++parts;
    ++same;
  }
  const bool at_part_a = same == a.size() || a[a.size() - 1 - same] == '/';
  const bool at_part_b = same == b.size() || b[b.size() - 1 - same] == '/';
  return parts + (same > 0 && at_part_a && at_part_b ? 1 : 0);
}

// Returns the file in `others` whose path has the most names in common with `file`, counted from the end. nullopt if
// two files have equally many common names, or if no file has a common name.
std::optional<std::string> Nearest(const std::string& file, const std::set<std::string>& others) {
  std::size_t most = 0;
  std::optional<std::string> nearest;
  for (const std::string& other : others) {
    const std::size_t common = CommonEnd(file, other);
    if (common == 0 || common < most) continue;
    nearest = common == most ? std::nullopt : std::optional(other);
    most = common;
  }
  return nearest;
}

// Maps the files of lines in `a` to files of lines in `b`.
std::map<std::string, std::string> MatchFiles(absl::Span<const SeenLine> a, absl::Span<const SeenLine> b) {
  std::set<std::string> of_a, of_b;
  for (const SeenLine& line : a) of_a.insert(line.line.file);
  for (const SeenLine& line : b) of_b.insert(line.line.file);
  std::map<std::string, std::string> files;
  for (const std::string& file : of_a) {
    if (of_b.contains(file)) files[file] = file;
  }
  for (const auto& [file, same] : files) {
    of_a.erase(file);
    of_b.erase(file);
  }
  for (const std::string& file : of_a) {
    const auto nearest = Nearest(file, of_b);
    if (nearest && Nearest(*nearest, of_a) == file) files[file] = *nearest;
  }
  for (const auto& [file, same] : files) {
    of_a.erase(file);
    of_b.erase(same);
  }
  if (of_a.size() == 1 && of_b.size() == 1) files[*of_a.begin()] = *of_b.begin();
  return files;
}

// Matches the lines of one function in the steps that line_match.h lists.
class FunctionMatch {
 public:
  FunctionMatch(absl::Span<const SeenLine> a, absl::Span<const SeenLine> b, const LinesByNumber& lines_a,
                const LinesByNumber& lines_b)
      : a_(a), b_(b), all_a_(lines_a), all_b_(lines_b), left_a_(lines_a), left_b_(lines_b) {}

  IndexPairs Match() {
    MatchAlike();
    MatchExpected([&](std::size_t in_a, std::size_t in_b) { return HaveCommon(in_a, in_b); });
    const bool moved = std::ranges::any_of(shifts_, [](const auto& shift) { return shift.second != 0; });
    if (!moved) MatchExpected([](std::size_t, std::size_t) { return true; });
    MatchBetween();
    if (left_a_.size() == 1 && left_b_.size() == 1 && AreAlone(left_a_.begin()->second, left_b_.begin()->second))
      Take(left_a_.begin()->first, left_b_.begin()->first);
    return std::move(pairs_);
  }

 private:
  void Take(LineNumber in_a, LineNumber in_b) {
    pairs_.emplace_back(left_a_.at(in_a), left_b_.at(in_b));
    shifts_[in_a] = in_b - in_a;
    left_a_.erase(in_a);
    left_b_.erase(in_b);
  }
  bool HaveCommon(std::size_t in_a, std::size_t in_b) const {
    return std::ranges::any_of(a_[in_a].marks, [&](const std::string& mark) { return b_[in_b].marks.contains(mark); });
  }

  // Returns true if the two lines have a common mark that no other line of the function has.
  bool AreAlone(std::size_t in_a, std::size_t in_b) const {
    return std::ranges::any_of(a_[in_a].marks, [&](const std::string& mark) {
      const auto has_a = [&](const auto& line) { return a_[line.second].marks.contains(mark); };
      const auto has_b = [&](const auto& line) { return b_[line.second].marks.contains(mark); };
      return std::ranges::count_if(all_a_, has_a) == 1 && has_b(std::pair(0, in_b)) &&
             std::ranges::count_if(all_b_, has_b) == 1;
    });
  }

  // Returns true if all lines moved by the same distance.
  static bool MoveTogether(const std::vector<LineNumber>& in_a, const std::vector<LineNumber>& in_b) {
    for (std::size_t i = 1; i < in_a.size(); ++i) {
      if (in_b[i] - in_a[i] != in_b[0] - in_a[0]) return false;
    }
    return true;
  }
  // Returns true if the bytes show another order: a line of A has as many bytes as a line of B at another position, but
  // not as many as the line of B at its own position. This shows that a line was removed and another was added, so
  // equal positions do not match.
  bool OtherOrderFits(const std::vector<LineNumber>& in_a, const std::vector<LineNumber>& in_b) const {
    const auto bytes_a = [&](std::size_t i) { return a_[all_a_.at(in_a[i])].bytes; };
    const auto bytes_b = [&](std::size_t i) { return b_[all_b_.at(in_b[i])].bytes; };
    for (std::size_t i = 0; i < in_a.size(); ++i) {
      if (bytes_a(i) == bytes_b(i)) continue;
      for (std::size_t j = 0; j < in_b.size(); ++j) {
        if (bytes_a(i) == bytes_b(j) && bytes_a(j) != bytes_b(j)) return true;
      }
    }
    return false;
  }

  // Step 1: matches lines with the same marks.
  void MatchAlike() {
    using Alike = std::pair<std::vector<LineNumber>, std::vector<LineNumber>>;
    std::map<std::set<std::string>, Alike> alike;
    for (const auto& [number, index] : left_a_) alike[a_[index].marks].first.push_back(number);
    for (const auto& [number, index] : left_b_) alike[b_[index].marks].second.push_back(number);
    for (const auto& [marks, lines] : alike) {
      const auto& [in_a, in_b] = lines;
      if (marks.empty() || in_a.size() != in_b.size()) continue;
      if (!MoveTogether(in_a, in_b) && OtherOrderFits(in_a, in_b)) continue;
      for (std::size_t i = 0; i < in_a.size(); ++i) Take(in_a[i], in_b[i]);
    }
  }

  // Matches, in their order, the lines that lie between the same two matched lines, if A and B have equally many of
  // them.
  void MatchBetween() {
    std::set<LineNumber> matched_b;
    for (const auto& [in_a, shift] : shifts_) {
      // If the matched lines have different orders in A and B, no line lies between the same two matched lines in both.
      if (!matched_b.empty() && in_a + shift < *matched_b.rbegin()) return;
      matched_b.insert(in_a + shift);
    }
    std::map<std::ptrdiff_t, std::pair<std::vector<LineNumber>, std::vector<LineNumber>>> gaps;
    for (const auto& [number, index] : left_a_)
      gaps[std::distance(shifts_.begin(), shifts_.lower_bound(number))].first.push_back(number);
    for (const auto& [number, index] : left_b_)
      gaps[std::distance(matched_b.begin(), matched_b.lower_bound(number))].second.push_back(number);
    for (const auto& [gap, lines] : gaps) {
      const auto& [in_a, in_b] = lines;
      bool alike = in_a.size() == in_b.size();
      for (std::size_t i = 0; alike && i < in_a.size(); ++i)
        alike = HaveCommon(left_a_.at(in_a[i]), left_b_.at(in_b[i]));
      for (std::size_t i = 0; alike && i < in_a.size(); ++i) Take(in_a[i], in_b[i]);
    }
  }

  // Returns the number of the line in B that should match a line in A, judged by the lines that have matched so far.
  LineNumber Expected(LineNumber in_a) const {
    if (shifts_.empty()) return in_a;
    const auto below = shifts_.upper_bound(in_a);
    return in_a + (below == shifts_.begin() ? below->second : std::prev(below)->second);
  }

  // Matches each line that is left with its expected line, if `condition` is true for their indices.
  template <class Condition>
  void MatchExpected(const Condition& condition) {
    std::vector<std::pair<LineNumber, LineNumber>> found;
    std::map<LineNumber, int> wanted;
    for (const auto& [number, index] : left_a_) {
      const auto other = left_b_.find(Expected(number));
      if (other == left_b_.end() || !condition(index, other->second)) continue;
      found.emplace_back(number, other->first);
      ++wanted[other->first];
    }
    for (const auto& [in_a, in_b] : found) {
      if (wanted[in_b] == 1) Take(in_a, in_b);
    }
  }

  absl::Span<const SeenLine> a_, b_;
  const LinesByNumber &all_a_, &all_b_;
  LinesByNumber left_a_, left_b_;
  std::map<LineNumber, LineNumber> shifts_;  // line number in B minus line number in A, by line number in A
  IndexPairs pairs_;
};

}  // namespace

std::string OperatorKeyOf(std::string_view maker, std::string_view module_path) {
  return absl::StrCat(std::string(maker), "\n", WithLayersMerged(module_path));
}

IndexPairs MatchLines(absl::Span<const SeenLine> a, absl::Span<const SeenLine> b) {
  const auto files = MatchFiles(a, b);
  using Function = std::pair<std::string, std::string>;  // path of the file in B, and name of the function
  std::map<Function, std::pair<LinesByNumber, LinesByNumber>> functions;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto file = files.find(a[i].line.file);
    if (file != files.end()) functions[{file->second, a[i].line.function}].first[a[i].line.line] = i;
  }
  for (std::size_t i = 0; i < b.size(); ++i) functions[{b[i].line.file, b[i].line.function}].second[b[i].line.line] = i;
  IndexPairs pairs;
  for (const auto& [function, lines] : functions) {
    for (const auto& pair : FunctionMatch(a, b, lines.first, lines.second).Match()) pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace memoir
