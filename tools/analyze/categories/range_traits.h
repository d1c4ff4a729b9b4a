// Properties of a range, derived from its name, that matter for the categories of blocks.
#ifndef TOOLS_ANALYZE_CATEGORIES_RANGE_TRAITS_H_
#define TOOLS_ANALYZE_CATEGORIES_RANGE_TRAITS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/analyze/categories/operator_saves.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

struct RangeTraits {
  bool loader : 1 = false;       // a data loader fetches a batch
  bool copies : 1 = false;       // copies its first argument, maybe to another device or data type
  bool reduces : 1 = false;      // all-reduce
  bool gathers : 1 = false;      // all-gather: writes the second tensors of all ranks to the first tensor
  bool copies_in : 1 = false;    // FSDP's operator before an all-gather: copies a list of tensors into the last tensor
  bool copies_out : 1 = false;   // FSDP's operator after an all-gather: copies the first tensor into all others
  bool scatters : 1 = false;     // reduce-scatter: writes a part of the reduced second tensor to the first tensor
  bool fills : 1 = false;        // returns a new tensor that has one value, is a copy, or is empty (empty_like)
  bool writes : 1 = false;       // writes to its first argument in place
  bool initialises : 1 = false;  // writes to its first argument, with values that do not come from another tensor
  bool chunks : 1 = false;       // FSDP's operator before a reduce-scatter: writes to the last tensor
  bool copies_over : 1 = false;  // writes its second argument to its first
  bool empties : 1 = false;      // allocates memory and does not write to it
  bool cuts : 1 = false;         // returns a view of a part of its first argument
  bool shards : 1 = false;       // a range in which FSDP gathers parameters
  bool known : 1 = false;        // TraitsOf() has set the properties
  const OperatorSaves* saves = nullptr;  // nullptr: the tensors that the operator's node saves are unknown
};

RangeTraits TraitsOf(std::string_view name);

class RangeTraitTable {
 public:
  RangeTraits FindTraits(NameId name, const Dictionary& dictionary) {
    if (!name.valid()) return {};
    if (name.value >= traits_.size()) traits_.resize(name.value + 1);
    if (!traits_[name.value].known) traits_[name.value] = TraitsOf(dictionary.text(name));
    return traits_[name.value];
  }

 private:
  std::vector<RangeTraits> traits_;  // by NameId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_RANGE_TRAITS_H_
