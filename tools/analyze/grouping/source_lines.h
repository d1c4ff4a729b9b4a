// Finds the line of the program for a Python stack: the innermost frame of the user's own code (own_code.h). Frames
// that are further inside belong to libraries that this line called.
//
//     train.py:90 main > net.py:12 Net.forward > torch/nn/modules/linear.py:134 Linear.forward
//                        ^ the line
//
// With --own, the line comes from the innermost frame whose file is at or below the given path. If there is no such
// frame, or without --own, the line comes from the innermost frame that does not belong to a library. If all frames
// belong to libraries, the line comes from the innermost frame.
#ifndef TOOLS_ANALYZE_GROUPING_SOURCE_LINES_H_
#define TOOLS_ANALYZE_GROUPING_SOURCE_LINES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/own_code.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

// The message for recordings without stacks.
inline constexpr char kNoStacks[] =
    "No line is known: no stack was recorded (memoir run --stacks python; of a program without Python: --stacks "
    "native; of a memory snapshot: _record_memory_history()).";

// A frame as tables show it.
struct SourceLine {
  std::string file;  // as the interpreter recorded it
  std::string function;
  std::uint32_t line = 0;                           // 0: unknown
  bool known() const { return !function.empty(); }  // false: there is no line
  bool operator==(const SourceLine&) const = default;
};

// A line of generated code (of torch.compile, for example) that ran for a line of the program and allocated memory.
// `origins`: the operations of the program that the generated line executes.
struct GeneratedPlace {
  SourceLine line;
  std::vector<CodeOrigin> origins;
  bool operator==(const GeneratedPlace&) const = default;
};

SourceLine SourceLineOf(const Frame& frame, const Dictionary& dictionary);
// Returns "/src/me/net.py:12 Net.forward". Empty if the line is not known().
std::string ToString(const SourceLine& line);
// Returns "/src/me/net.py:12". Returns the function if the file is unknown.
std::string PlaceOf(const SourceLine& line);

// Finds the lines of stacks. Caches its results: each stack is examined once. The dictionary must stay the same.
class SourceLines {
 public:
  // `own`: the value of --own.
  explicit SourceLines(std::string_view own = "") : path_(own), own_(own) {}

  // Returns the number of the stack's line; lines are numbered from 0. `stack` must be valid.
  std::uint32_t NumberOf(StackId stack, const Dictionary& dictionary);
  const Frame& FrameOf(std::uint32_t number) const { return frames_[number]; }
  // Returns the lines of generated code that ran for the line and allocated memory, in the order of first use; at most
  // kMostVia entries.
  const std::vector<GeneratedPlace>& ViaOf(std::uint32_t number) const { return via_[number]; }
  static constexpr std::size_t kMostVia = 100;
  // Returns the line of a stack. Not known() if `stack` is invalid.
  SourceLine LineOf(StackId stack, const Dictionary& dictionary);
  // Returns true if the innermost frame belongs to the program. With --own, its file must be at or below the path.
  bool IsOwn(StackId stack, const Dictionary& dictionary);
  // Returns one line that names the missing information about lines. Usually empty. Must be called after the last
  // stack.
  std::string Missing(const Dictionary& dictionary) const;

 private:
  // The innermost frame at or below the path of --own, and the innermost frame of the program. A frame is stored as the
  // id of the stack whose innermost frame it is. Invalid: no such frame.
  struct InnermostStacks {
    StackId named, of_program;
  };
  void LookAtNext(const Dictionary& dictionary);
  CodeOwner OwnerOf(CodeId code, const Dictionary& dictionary);
  void NoteVia(StackId stack, const Dictionary& dictionary, std::vector<GeneratedPlace>& via) const;
  Frame Choose(StackId stack, const Dictionary& dictionary) const;

  static constexpr std::uint32_t kUnknown = 0xffffffffu;
  std::string path_;
  OwnCode own_;
  bool found_named_ = false;                      // a frame lies at or below the path of --own
  std::vector<std::int8_t> owners_;               // by CodeId; -1: not determined yet
  std::vector<InnermostStacks> innermost_;        // by StackId; the parent of a stack has a smaller id
  std::vector<std::uint32_t> number_of_;          // number of the line, by StackId; kUnknown: not determined yet
  std::vector<Frame> frames_;                     // by number of the line
  std::vector<std::vector<GeneratedPlace>> via_;  // by number of the line
  // Number of a line, by its code and its line in the file.
  absl::flat_hash_map<std::pair<CodeId, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_SOURCE_LINES_H_
