// How the arguments of a range fit its operator's schemas, each combination worked out once.
#ifndef TOOLS_ANALYZE_DATA_FLOW_KNOWN_CALLS_H_
#define TOOLS_ANALYZE_DATA_FLOW_KNOWN_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/data_flow/schema_match.h"
#include "tools/model/dictionary.h"
#include "tools/model/event.h"

namespace memoir {

class KnownCalls {
 public:
  // Kinds of the range's arguments as torch.profiler has them: a list of optional tensors is None to it.
  std::string ShownKinds(const RangeBeginEvent& event, const Dictionary& dictionary);

  struct Call {
    std::uint32_t index = 0;  // in what Take gives
    bool fits = false;
  };
  // `kinds`: as shown, or changed after a look at the tensors.
  Call Of(const RangeBeginEvent& event, const std::string& kinds, const Dictionary& dictionary);

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
  const OperatorSchemas* SchemasOf(SchemaId id, const Dictionary& dictionary);  // nullptr: invalid

  std::map<SchemaId, OperatorSchemas> schemas_;
  absl::flat_hash_map<Key, Call> calls_;
  std::vector<SchemaMatch> matches_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_KNOWN_CALLS_H_
