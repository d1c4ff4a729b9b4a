// Matches the arguments of ranges with the schemas of their operators. Ranges with the same name, the same schema and
// arguments of the same kinds (tensor, list of tensors, integer and so on) are matched only once.
#ifndef TOOLS_ANALYZE_DATA_FLOW_MATCHED_CALLS_H_
#define TOOLS_ANALYZE_DATA_FLOW_MATCHED_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/data_flow/schema_match.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

class MatchedCalls {
 public:
  // Returns one letter for the kind of each argument (schema_match.h), as torch.profiler shows the arguments.
  // torch.profiler shows a list of optional tensors as None.
  std::string TextOfKinds(const RangeBeginEvent& event, const Dictionary& dictionary);

  struct Call {
    std::uint32_t index = 0;  // index in the result of Take()
    bool fits = false;        // the arguments fit at least one schema
  };
  // `kinds`: the result of TextOfKinds, possibly changed for tensors without storage.
  Call MatchCall(const RangeBeginEvent& event, const std::string& kinds, const Dictionary& dictionary);

  std::vector<SchemaMatch> Take() { return std::move(matches_); }

 private:
  struct Key {
    NameId name;
    SchemaId schema;
    std::string kinds;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Key& key) {
      return H::combine(std::move(hash), key.name, key.schema, key.kinds);
    }
  };
  const OperatorSchemas* SchemasOf(SchemaId id, const Dictionary& dictionary);  // nullptr if `id` is invalid

  std::map<SchemaId, OperatorSchemas> schemas_;
  absl::flat_hash_map<Key, Call> calls_;
  std::vector<SchemaMatch> matches_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_MATCHED_CALLS_H_
