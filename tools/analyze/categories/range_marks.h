// What the name of a range tells about the memory that the range reads or writes.
#ifndef TOOLS_ANALYZE_CATEGORIES_RANGE_MARKS_H_
#define TOOLS_ANALYZE_CATEGORIES_RANGE_MARKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/analyze/categories/saved_tensors.h"
#include "tools/model/dictionary.h"

namespace memoir {

struct RangeMarks {
  bool loader : 1 = false;       // a step of a data loader
  bool copies : 1 = false;       // makes a copy of its first argument, maybe on another device or of another type
  bool reduces : 1 = false;      // all-reduce
  bool gathers : 1 = false;      // all-gather: its first tensor becomes what its second, and other ranks', is
  bool copies_in : 1 = false;    // FSDP, before an all-gather: from a list, whose last tensor but it is written to
  bool copies_out : 1 = false;   // FSDP, after it: from the first tensor into all others
  bool scatters : 1 = false;     // reduce-scatter: likewise, its first from its second
  bool fills : 1 = false;        // makes what it makes of one value, or of a copy
  bool writes : 1 = false;       // to its first argument, in place
  bool initialises : 1 = false;  // writes values to its first argument that come from no other tensor
  bool chunks : 1 = false;       // FSDP, before a reduce-scatter: the last tensor is written to
  bool copies_over : 1 = false;  // writes to its first argument what is in its second
  bool empties : 1 = false;      // makes memory and writes nothing to it
  bool cuts : 1 = false;         // a view of a part of its first argument
  bool shards : 1 = false;       // a range of FSDP's in which it gathers parameters
  bool known : 1 = false;
  const SavedTensors* saves = nullptr;  // nullptr: what the operator's node saves is not known
};

RangeMarks MarksOf(std::string_view name);

class RangeMarkTable {
 public:
  RangeMarks Of(NameId name, const Dictionary& dictionary) {
    if (!name.valid()) return {};
    if (name.value >= marks_.size()) marks_.resize(name.value + 1);
    if (!marks_[name.value].known) marks_[name.value] = MarksOf(dictionary.text(name));
    return marks_[name.value];
  }

 private:
  std::vector<RangeMarks> marks_;  // by NameId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_RANGE_MARKS_H_
