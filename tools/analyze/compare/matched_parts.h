// Matches the memory of one device in capture A with the memory of one device in capture B, under common names. A
// part is the live bytes with one operator, module, line and category. Rows and the main cause (main_cause.h) are
// computed from the matched parts.
#ifndef TOOLS_ANALYZE_COMPARE_MATCHED_PARTS_H_
#define TOOLS_ANALYZE_COMPARE_MATCHED_PARTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/compare/comparison.h"

namespace memoir {

// A part of A's live bytes, and the part of B's live bytes with the same names.
struct MatchedPart {
  std::string operator_name;
  CommonModule module;  // if !is_of_module: its path is a label such as "(no module)"
  bool is_of_module = false;
  std::string line_key;      // identifies the line; lines that do not match may have the same label
  std::string line, line_a;  // label of the line; A's label if it differs from B's, otherwise empty
  SourceLine source;
  bool is_line_of_a = false;
  std::string category;
  bool is_of_library = false;  // HeldPart::is_of_library
  std::string other, other_a;  // HeldPart::other; A's label if it differs from B's, otherwise empty
  Amount a, b;
  std::int64_t difference() const { return static_cast<std::int64_t>(b.bytes) - static_cast<std::int64_t>(a.bytes); }
  std::int64_t requested_difference() const {
    return static_cast<std::int64_t>(b.requested) - static_cast<std::int64_t>(a.requested);
  }
};

// Matches the parts of two captures, for one device at a time.
class MatchedNames {
 public:
  MatchedNames(const CaptureHoldings& a, const CaptureHoldings& b, std::vector<Rename> renames, GroupBy by);
  // Returns the matched parts of two devices. `a` or `b` is nullptr if the capture has no such device.
  std::vector<MatchedPart> MatchParts(const HeldDevice* a, const HeldDevice* b);
  const ModuleNames& modules() const { return modules_; }
  const Renames& renames() const { return renames_; }
  // Returns the MatchedPart::line_key of a line of A.
  std::string LineKeyOf(const std::string& line_of_a) const;
  // Returns true if an outermost module of A and one of B match.
  bool AreSameModel(const std::string& of_a, const std::string& of_b) const;

 private:
  MatchedPart PartOfA(const HeldPart& part);
  MatchedPart PartOfB(const HeldPart& part) const;
  std::string OtherName(const std::string& name) const;

  GroupBy by_;
  Renames renames_;
  ModuleNames modules_;
  std::map<std::string, SourceLine> lines_of_a_;  // ToString of A's line, and the matching line of B
};

// Returns a row for each value of the grouping `by`, with the sums of its parts. Largest difference first.
std::vector<ComparedRow> RowsOf(const std::vector<MatchedPart>& parts, GroupBy by);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCHED_PARTS_H_
