// The life of a tensor's memory: which operator made it, its category and rule, its readers, its holder, its free.
#ifndef TOOLS_ANALYZE_LIVES_EXPLAIN_H_
#define TOOLS_ANALYZE_LIVES_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/categories/rules.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// What somebody wants explained: "0x7f00c0de", "aten::mm#3" (its fourth call), or a parameter: "layers.0.fc1.weight".
struct Subject {
  enum class Kind : std::uint8_t { kAddress, kCall, kParameter };
  Kind kind = Kind::kParameter;
  std::uint64_t address = 0;
  std::string name;  // operator with or without overload, or parameter
  std::uint64_t call = 0;
  std::string text;  // as it was given: a parameter of just that name is meant first
};
// InvalidArgument: an address or a number of a call that is none.
absl::StatusOr<Subject> ParseSubject(const std::string& text);

struct Reading {
  std::uint64_t ns = 0;
  std::string operator_name;
  std::string module;  // path; "" of none
  Phase phase = Phase::kOther;
  std::string node;  // of autograd, that it was inside of
};

struct BlockStory {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string device;
  std::optional<std::uint32_t> rank;
  std::string tensor;  // the first layout seen on it: "float32[32, 128]"
  std::uint64_t made_ns = 0;
  std::string made_by;                    // outermost operator
  bool unseen = false;                    // operators were not recorded then, and none is inferred
  bool inferred = false;                  // with the module, phase and category: from a step like its own (detail=auto)
  SourceLine line;                        // of a backward node that its forward operator is of; none: not known
  std::vector<SourceLine> stack;          // when it was made, outermost first
  std::vector<SourceLine> forward_stack;  // of the forward operator, likewise
  std::string module;
  Phase phase = Phase::kOther;
  std::optional<std::uint64_t> step;
  RuleNumber rule = 0;
  bool expected = false;  // the recording ended before it showed: blocks of the same place became that before
  std::string parameter;  // that it is, or whose gradient or state
  std::uint64_t readings = 0;
  std::vector<Reading> first_readings;    // at most kShownReadings
  std::optional<Reading> last_reading;    // where there are more
  std::optional<std::uint64_t> freed_ns;  // empty: live at the end
  std::string freed_inside;               // node of autograd, or operator; "" outside of any
  std::string saved_for;                  // the first node of autograd that read it, with its module; "": none
};
inline constexpr std::size_t kShownReadings = 6;

struct Explanation {
  // Parameters, buffers and states, then the rest, each newest first; at most kMostStories, the last that ended.
  std::vector<BlockStory> stories;
  std::uint64_t matches = 0;
  std::string missing;  // as Summary's
  ReplayReport report;
};
inline constexpr std::size_t kMostStories = 1000;

// NotFound: nothing in the selection is that; then `parameters`, where given, has the names of those that there are.
absl::StatusOr<Explanation> Explain(const Capture& capture, const Selection& selection, Subject subject,
                                    std::vector<std::string>* parameters = nullptr);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_EXPLAIN_H_
