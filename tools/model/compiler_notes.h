// What a program's compilers said of their work, as the recorder put it into texts (docs/event_schema.md,
// "torch.compile"): what was compiled and why, where a graph broke, and of which operations of the program the lines of
// generated code are.
//
// Pure; trusts nothing.
#ifndef TOOLS_MODEL_COMPILER_NOTES_H_
#define TOOLS_MODEL_COMPILER_NOTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

// Names of ranges without length that hold notes are replaced by words for people; of generated code by this.
inline constexpr char kGeneratedCodeNote[] = "torch.compile: generated code";

// An operation of the program that generated code carries out.
struct CodeOrigin {
  struct Place {
    std::string file, function;
    std::uint32_t line = 0;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> frames;  // outermost first; may be empty
  // Of the module that calls it. `root` as Module's, or "": then `path` is from the module around the compiled code.
  // Class "": of none.
  std::string root, path, module_class;
  std::string operation;  // "aten.gelu"; may be empty
  bool operator==(const CodeOrigin&) const = default;
};

// A frame that was compiled, or a graph that broke.
struct Compilation {
  enum class Kind : std::uint8_t { kForward, kBackward, kGraphBreak };
  Kind kind = Kind::kForward;
  std::string id;        // "1/0": the frame's number, and which of its compilations it is
  std::string function;  // of a graph break that in which it is
  std::string file;
  std::uint32_t line = 0;  // of a graph break where it is
  std::string reason;      // of a compilation: why it was made again; ""
  std::string failure;     // "" where it was compiled
  bool operator==(const Compilation&) const = default;
};
// In one line, after "torch.compile: ".
std::string ToString(const Compilation& compilation);

// A note about a file of generated code: from a line up to the next one that any note has. The first origin is what the
// line's buffers are for; others are fused with it. None: of no operation.
struct GeneratedLines {
  std::string file;
  std::map<std::uint32_t, std::vector<CodeOrigin>> origins;
};

struct CompilerNote {
  std::optional<Compilation> compilation;
  std::optional<GeneratedLines> generated;
};

// Empty: the text is none, or not as notes are.
std::optional<CompilerNote> ParseCompilerNote(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_MODEL_COMPILER_NOTES_H_
