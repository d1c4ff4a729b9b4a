#include "tools/analyze/grouping/source_lines.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace memoir {

namespace {

// The message for recordings whose native frames are still addresses.
constexpr char kNoNames[] = "Frames of C and C++ have no names yet: memoir symbolize CAPTURE finds them.";

// Returns true if memoir symbolize was not run yet: the capture has native frames, and all of them lack the name of
// their function.
bool HasAddressesAlone(const Dictionary& dictionary) {
  bool any = false;
  for (std::uint32_t i = 0; i < dictionary.codes(); ++i) {
    const Code& code = dictionary.code(CodeId{i});
    if (code.object.empty()) continue;
    if (!code.function.starts_with("+0x")) return false;
    any = true;
  }
  return any;
}

}  // namespace

SourceLine SourceLineOf(const Frame& frame, const Dictionary& dictionary) {
  const Code& code = dictionary.code(frame.code);
  return {code.file, code.function.empty() ? "?" : code.function, frame.line};
}

std::string ToString(const SourceLine& line) {
  return line.file.empty() ? line.function : absl::StrCat(PlaceOf(line), " ", line.function);
}

std::string PlaceOf(const SourceLine& line) {
  if (line.file.empty()) return line.function;
  return line.line == 0 ? line.file : absl::StrCat(line.file, ":", line.line);
}

CodeOwner SourceLines::OwnerOf(CodeId code, const Dictionary& dictionary) {
  if (code.value >= owners_.size()) owners_.resize(code.value + 1, -1);
  std::int8_t& known = owners_[code.value];
  if (known < 0) {
    const Code& known_code = dictionary.code(code);
    CodeOwner owner = known_code.object.empty() ? own_.OwnerOf(known_code.file)
                                                : own_.OwnerOfNative(known_code.object, known_code.file);
    if (owner == CodeOwner::kProgram && dictionary.IsGenerated(code)) owner = CodeOwner::kLibrary;
    known = static_cast<std::int8_t>(owner);
    found_named_ = found_named_ || owner == CodeOwner::kNamed;
  }
  return static_cast<CodeOwner>(known);
}

void SourceLines::LookAtNext(const Dictionary& dictionary) {
  const StackId id{static_cast<std::uint32_t>(innermost_.size())};
  const Stack& stack = dictionary.stack(id);
  InnermostStacks innermost = stack.parent.valid() ? innermost_[stack.parent.value] : InnermostStacks();
  const CodeOwner owner = OwnerOf(stack.frame.code, dictionary);
  if (owner == CodeOwner::kNamed) innermost.named = id;
  if (owner != CodeOwner::kLibrary) innermost.of_program = id;
  innermost_.push_back(innermost);
}

Frame SourceLines::Choose(StackId stack, const Dictionary& dictionary) const {
  const InnermostStacks& innermost = innermost_[stack.value];
  const StackId chosen = innermost.named.valid()        ? innermost.named
                         : innermost.of_program.valid() ? innermost.of_program
                                                        : stack;
  return dictionary.stack(chosen).frame;
}

std::uint32_t SourceLines::NumberOf(StackId stack, const Dictionary& dictionary) {
  while (innermost_.size() <= stack.value) LookAtNext(dictionary);
  if (stack.value >= number_of_.size()) number_of_.resize(innermost_.size(), kUnknown);
  std::uint32_t& number = number_of_[stack.value];
  if (number != kUnknown) return number;
  const Frame frame = Choose(stack, dictionary);
  const auto [known, added] =
      numbers_.try_emplace({frame.code, frame.line}, static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back(frame), via_.emplace_back();
  NoteVia(stack, dictionary, via_[known->second]);
  return number = known->second;
}

void SourceLines::NoteVia(StackId stack, const Dictionary& dictionary, std::vector<GeneratedPlace>& via) const {
  const std::vector<CodeOrigin>& origins = dictionary.origins(stack);
  if (origins.empty() || via.size() == kMostVia) return;
  StackId around = stack;
  while (around.valid() && !dictionary.IsGenerated(dictionary.stack(around).frame.code))
    around = dictionary.stack(around).parent;
  if (!around.valid()) return;
  GeneratedPlace place{SourceLineOf(dictionary.stack(around).frame, dictionary), origins};
  if (std::ranges::find(via, place) == via.end()) via.push_back(std::move(place));
}

bool SourceLines::IsOwn(StackId stack, const Dictionary& dictionary) {
  const CodeOwner owner = OwnerOf(dictionary.stack(stack).frame.code, dictionary);
  return owner == CodeOwner::kNamed || (path_.empty() && owner == CodeOwner::kProgram);
}

std::string SourceLines::Missing(const Dictionary& dictionary) const {
  if (dictionary.stacks() == 0) return kNoStacks;
  std::string missing = path_.empty() || found_named_ ? "" : absl::StrCat("No frame lies in --own ", path_, ".");
  if (HasAddressesAlone(dictionary)) absl::StrAppend(&missing, missing.empty() ? "" : " ", kNoNames);
  return missing;
}

SourceLine SourceLines::LineOf(StackId stack, const Dictionary& dictionary) {
  if (!stack.valid()) return {};
  return SourceLineOf(frames_[NumberOf(stack, dictionary)], dictionary);
}

}  // namespace memoir
