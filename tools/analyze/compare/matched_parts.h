// What two devices hold, part by part under common names: what rows and the main cause (main_cause.h) are made of.
#ifndef TOOLS_ANALYZE_COMPARE_MATCHED_PARTS_H_
#define TOOLS_ANALYZE_COMPARE_MATCHED_PARTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/compare/comparison.h"

namespace memoir {

// A part of A and the same of B.
struct MatchedPart {
  std::string operator_name;
  CommonModule module;  // of no module: its path is a label as "(no module)"
  bool is_of_module = false;
  std::string line_key;      // tells lines apart: two that do not match may have one name
  std::string line, line_a;  // as rows are called; A's where that differs
  SourceLine source;
  bool is_line_of_a = false;
  std::string category;
  bool is_of_library = false;  // HeldPart::is_of_library
  std::string other, other_a;
  Amount a, b;
  std::int64_t difference() const { return static_cast<std::int64_t>(b.bytes) - static_cast<std::int64_t>(a.bytes); }
};

// Of two recordings; devices of them one after another.
class MatchedNames {
 public:
  MatchedNames(const Held& a, const Held& b, std::vector<Rename> renames, GroupBy by);
  // nullptr: a side that has nothing.
  std::vector<MatchedPart> Parts(const HeldDevice* a, const HeldDevice* b);
  const ModuleNames& modules() const { return modules_; }
  const Renames& renames() const { return renames_; }

 private:
  MatchedPart OfA(const HeldPart& part);
  MatchedPart OfB(const HeldPart& part) const;
  std::string OtherName(const std::string& name) const;

  GroupBy by_;
  Renames renames_;
  ModuleNames modules_;
  std::map<std::string, SourceLine> lines_of_a_;  // ToString of A's line ──► the same line in B
};

std::vector<ComparedRow> RowsOf(const std::vector<MatchedPart>& parts, GroupBy by);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCHED_PARTS_H_
