// Whether a call's arguments fit the operator's schema, and which of them it may write to, by the rules of
// torch.profiler's SchemaMatcher, to which a profile shows less than the call had.
#ifndef TOOLS_ANALYZE_DATA_FLOW_SCHEMA_MATCH_H_
#define TOOLS_ANALYZE_DATA_FLOW_SCHEMA_MATCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/model/dictionary.h"

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
  bool written = false;
};

// Of the text as torch prints it: "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)".
// Empty where it is none.
std::vector<SchemaArgument> ParseSchemaArguments(std::string_view schema);

// "Tensor" of the above; "" where it has none.
std::string_view OverloadOf(std::string_view schema);

// An operator's own schema, and by their overloads those of all operators of its name.
struct OperatorSchemas {
  std::vector<SchemaArgument> own;
  std::vector<std::pair<std::string, std::vector<SchemaArgument>>> overloads;
};
OperatorSchemas ParseSchemas(const Schema& schema);

// Kinds of a signature (docs/capture_format.md) as torch.profiler has them: `schema` may be empty.
// A tensor without storage has the kind kNoStorage, a list that holds one kListNoStorage.
inline constexpr char kNoStorage = 'x';
inline constexpr char kListNoStorage = 'y';
inline constexpr char kNotShown = 'N';  // as None
bool FitsSchema(const std::vector<SchemaArgument>& schema, std::string_view kinds);

struct SchemaMatch {
  enum class Written : std::uint8_t { kNo, kYes, kUnknown };
  std::vector<Written> written;        // per argument: by any schema that fits; kUnknown: none does
  std::vector<std::string> overloads;  // whose schemas fit: "Tensor"
};
// nullptr: it is no operator.
SchemaMatch MatchSchemas(const OperatorSchemas* schemas, std::string_view kinds);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_SCHEMA_MATCH_H_
