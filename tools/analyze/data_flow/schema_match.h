// Matches the arguments of a call with the schemas of its operator, and finds the arguments that the call may write to.
// Follows the rules of torch.profiler's SchemaMatcher, which knows the types only of tensors, lists of tensors, numbers
// and bools among the arguments.
#ifndef TOOLS_ANALYZE_DATA_FLOW_SCHEMA_MATCH_H_
#define TOOLS_ANALYZE_DATA_FLOW_SCHEMA_MATCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/event/dictionary.h"

namespace memoir {

enum class ArgumentType : std::uint8_t {
  kTensor,
  kTensorList,
  kOptionalTensorList,  // "Tensor?[]", which torch.profiler shows as None
  kInt,                 // also data types, layouts, memory formats, symbolic integers
  kFloat,
  kBool,
  kComplex,
  kNumber,
  kNone,
  kAny,
  kOther,
};

struct SchemaArgument {
  ArgumentType type = ArgumentType::kOther;
  bool optional = false;
  bool written = false;  // the operator writes to the argument
};

// Parses torch's text of a schema: "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)".
// Empty if `schema` is not a schema.
std::vector<SchemaArgument> ParseSchemaArguments(std::string_view schema);

// Returns "Tensor" for the example above. Empty without an overload.
std::string_view OverloadOf(std::string_view schema);

// The arguments of an operator (`own`), and, by overload, the arguments of all operators with its name.
struct OperatorSchemas {
  std::vector<SchemaArgument> own;
  std::vector<std::pair<std::string, std::vector<SchemaArgument>>> overloads;
};
OperatorSchemas ParseSchemas(const Schema& schema);

// The kind of an argument is one letter (docs/capture_format.md, "Argument kinds"). These kinds replace the recorded
// kinds 'T' and 'L' of arguments that torch.profiler does not show as tensors.
inline constexpr char kNoStorage = 'x';      // a tensor without storage
inline constexpr char kListNoStorage = 'y';  // a list with a tensor without storage
inline constexpr char kNotShown = 'N';       // a list that torch.profiler shows as None
// Returns true if arguments of these kinds fit the schema.
bool FitsSchema(const std::vector<SchemaArgument>& schema, std::string_view kinds);

struct SchemaMatch {
  enum class Mutation : std::uint8_t { kNo, kYes, kUnknown };
  std::vector<Mutation> written;       // by argument: whether a fitting schema writes to it; kUnknown: no schema fits
  std::vector<std::string> overloads;  // overloads whose schemas fit: "Tensor"
};
// `schemas`: nullptr if the range is not an operator.
SchemaMatch MatchSchemas(const OperatorSchemas* schemas, std::string_view kinds);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_SCHEMA_MATCH_H_
