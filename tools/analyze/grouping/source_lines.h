// Which line of the program a Python stack stands for: the innermost frame of the user's own code (own_code.h), through
// which all that libraries do further in was asked for.
//
//     train.py:90 main > net.py:12 Net.forward > torch/nn/modules/linear.py:134 Linear.forward
//                        ^ the line
//
// With --own the innermost frame below its path; where a stack has none, the innermost that is no library's; where it
// has none of those either, the innermost of all.
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
#include "tools/model/dictionary.h"

namespace memoir {

// Of recordings without a single stack.
inline constexpr char kNoStacks[] =
    "No line is known: no stack was recorded (memoir run --stacks python; of a program without Python: --stacks "
    "native; of a memory snapshot: _record_memory_history()).";

// A frame, as views show it.
struct SourceLine {
  std::string file;  // as the interpreter has it
  std::string function;
  std::uint32_t line = 0;                           // 0: not known
  bool known() const { return !function.empty(); }  // false: there is no line
  bool operator==(const SourceLine&) const = default;
};

// A line of generated code through which a line allocated, and all operations of the program that it carries out.
struct GeneratedPlace {
  SourceLine line;
  std::vector<CodeOrigin> origins;
  bool operator==(const GeneratedPlace&) const = default;
};

SourceLine SourceLineOf(const Frame& frame, const Dictionary& dictionary);
// "/src/me/net.py:12 Net.forward"; "" of none.
std::string ToString(const SourceLine& line);
// "/src/me/net.py:12"; where there is no file, its function.
std::string PlaceOf(const SourceLine& line);

// Remembers what it was asked: each stack is looked at once, whose dictionary is always the same.
class SourceLines {
 public:
  // `own`: of --own.
  explicit SourceLines(std::string_view own = "") : path_(own), own_(own) {}

  // Small numbers, from 0, one for each line. `stack` is valid.
  std::uint32_t NumberOf(StackId stack, const Dictionary& dictionary);
  const Frame& FrameOf(std::uint32_t number) const { return frames_[number]; }
  // As first seen, at most kMostVia.
  const std::vector<GeneratedPlace>& ViaOf(std::uint32_t number) const { return via_[number]; }
  static constexpr std::size_t kMostVia = 100;
  // Of an invalid stack none.
  SourceLine Of(StackId stack, const Dictionary& dictionary);
  // Whether the innermost frame is the program's; with --own, that which is named.
  bool IsOwn(StackId stack, const Dictionary& dictionary);
  // What is not known of lines, in one line; mostly empty. After the last stack.
  std::string Missing(const Dictionary& dictionary) const;

 private:
  // The innermost frame of a kind at or outside of a stack's own: as the stack that ends with it; invalid: none.
  struct Innermost {
    StackId named, of_program;
  };
  void LookAtNext(const Dictionary& dictionary);
  CodeOwner OwnerOf(CodeId code, const Dictionary& dictionary);
  void NoteVia(StackId stack, const Dictionary& dictionary, std::vector<GeneratedPlace>& via) const;
  Frame Choose(StackId stack, const Dictionary& dictionary) const;

  static constexpr std::uint32_t kUnknown = 0xffffffffu;
  std::string path_;
  OwnCode own_;
  bool found_named_ = false;
  std::vector<std::int8_t> owners_;               // by CodeId; -1: not looked at
  std::vector<Innermost> innermost_;              // by StackId: a stack's parent has the smaller number
  std::vector<std::uint32_t> number_of_;          // by StackId
  std::vector<Frame> frames_;                     // by number
  std::vector<std::vector<GeneratedPlace>> via_;  // likewise
  absl::flat_hash_map<std::pair<CodeId, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_SOURCE_LINES_H_
