// Explains the life of a block: the operator that allocated it, its category and rule, its readers, its holder, and its
// free.
#ifndef TOOLS_ANALYZE_LIVES_EXPLAIN_H_
#define TOOLS_ANALYZE_LIVES_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// The blocks to explain: an address "0x7f00c0de", a call "aten::mm#3" (the fourth call, because calls count from 0), or
// a parameter "layers.0.fc1.weight".
struct ExplainSubject {
  enum class Kind : std::uint8_t { kAddress, kCall, kParameter };
  Kind kind = Kind::kParameter;
  std::uint64_t address = 0;
  std::string name;  // an operator with or without overload, or a parameter
  std::uint64_t call = 0;
  // The subject as the user typed it. If a parameter has exactly this name, the parameter is explained, whatever `kind`
  // is.
  std::string text;
};
// Returns InvalidArgument if the address or the number of the call is invalid.
absl::StatusOr<ExplainSubject> ParseSubject(const std::string& text);

// A call of an outermost operator that read the block.
struct BlockReading {
  std::uint64_t ns = 0;
  std::string operator_name;
  std::string module;  // path; empty: no module
  Phase phase = Phase::kOther;
  std::string node;  // autograd node that contains the operator; empty: no node
};

// The life of one block.
struct BlockStory {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string device;
  std::optional<std::uint32_t> rank;
  std::string tensor;  // dtype and shape with which an operator first read it: "float32[32, 128]"
  std::uint64_t made_ns = 0;
  std::string made_by;    // outermost operator
  bool unseen = false;    // operators were not recorded at its allocation, and `made_by` is not inferred
  bool inferred = false;  // `made_by`, module, phase and category come from the matching block (--detail auto)
  SourceLine line;  // line that allocated it; for a block of backward, line of the forward operator; may be unknown
  std::vector<SourceLine> stack;          // Python stack of its allocation, outermost frame first
  std::vector<SourceLine> forward_stack;  // Python stack of the forward operator, outermost frame first
  std::string module;
  Phase phase = Phase::kOther;
  std::optional<std::uint64_t> step;  // number of the newest memoir.step() at its allocation; empty: no step yet
  RuleNumber rule = 0;
  // True if the recording ended before there was evidence of the category. In this case, earlier blocks from the same
  // place in the program (allocation_places.h) determine the category.
  bool expected = false;
  std::string parameter;  // the parameter whose values, gradient or optimizer state the block contains
  std::uint64_t readings = 0;
  std::vector<BlockReading> first_readings;  // at most kShownReadings
  std::optional<BlockReading> last_reading;  // set if there are more than kShownReadings
  std::optional<std::uint64_t> freed_ns;     // empty: live at the end
  std::string freed_inside;                  // autograd node or operator that ran at the free; empty: neither ran
  std::string saved_for;                     // first autograd node that read the block, with module; empty: no node
};
inline constexpr std::size_t kShownReadings = 6;

struct Explanation {
  // Parameters and buffers first, then optimizer states, then all other blocks. Within each of these three parts, the
  // newest block comes first. If more than kMostStories blocks match, contains only the blocks that were freed last. A
  // block that was not freed counts as freed at the end of its process.
  std::vector<BlockStory> stories;
  std::uint64_t matches = 0;
  std::string missing;  // names information that the capture lacks; empty if the capture is complete
  ReplayReport report;
};
inline constexpr std::size_t kMostStories = 1000;

// Explains the blocks that `subject` names. Returns NotFound if the selection contains no such block. In this case the
// function appends the names of all parameters to `parameters`, unless it is nullptr.
absl::StatusOr<Explanation> ExplainBlocks(const Capture& capture, const Selection& selection, ExplainSubject subject,
                                          std::vector<std::string>* parameters = nullptr);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_EXPLAIN_H_
