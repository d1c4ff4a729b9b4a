// Parses notes about the work of torch.compile, which the recorder stores as names of ranges (docs/event_schema.md,
// "torch.compile's own work"). A note describes one of these:
// - the compilation of a frame (a function of the program), and its reason,
// - a graph break,
// - generated code: the operations of the program that each of its lines executes.
//
// Pure functions. The input is not trusted.
#ifndef TOOLS_MODEL_EVENT_COMPILER_NOTES_H_
#define TOOLS_MODEL_EVENT_COMPILER_NOTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// The name that the reader shows for a range if the recorded name is a note about generated code.
inline constexpr char kGeneratedCodeName[] = "torch.compile: generated code";

// An operation of the program that generated code executes.
struct CodeOrigin {
  struct SourceFrame {
    std::string file, function;
    std::uint32_t line = 0;
    bool operator==(const SourceFrame&) const = default;
  };
  std::vector<SourceFrame> frames;  // outermost first; may be empty
  // The module that calls the operation, as the struct Module describes it. If `root` is empty, `path` starts at the
  // module around the compiled code. If no module calls the operation, `module_class` is empty.
  std::string root, path, module_class;
  std::string operation;  // "aten.gelu"; may be empty
  bool operator==(const CodeOrigin&) const = default;
};

// The compilation of a frame, or a graph break.
struct Compilation {
  enum class Kind : std::uint8_t { kForward, kBackward, kGraphBreak };
  Kind kind = Kind::kForward;
  std::string id;        // "1/0": the number of the frame, and the number of the compilation of this frame
  std::string function;  // for a graph break: the function that contains the break
  std::string file;
  std::uint32_t line = 0;  // for a graph break: the line of the break
  std::string reason;      // reason of a recompilation or of a graph break; may be empty
  std::string failure;     // empty if the compilation succeeded
  bool operator==(const Compilation&) const = default;
};
// Returns one line of text without the prefix "torch.compile: ".
std::string ToString(const Compilation& compilation);

// A note about a file of generated code. `origins` contains operations of the program, by the number of the generated
// line. An entry applies from its line up to the line before the next entry. A block that one of these lines allocates
// holds the result of the entry's first operation. The other operations are fused with the first. If an entry is empty,
// its lines belong to no operation.
struct GeneratedLines {
  std::string file;
  std::map<std::uint32_t, std::vector<CodeOrigin>> origins;
};

struct CompilerNote {
  std::optional<Compilation> compilation;
  std::optional<GeneratedLines> generated;
};

// Parses a note. nullopt if `text` is not a note, or is malformed.
std::optional<CompilerNote> ParseCompilerNote(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_COMPILER_NOTES_H_
