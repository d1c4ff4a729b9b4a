// The reader of frames by itself, a library that frames_as_python_says.py loads into any Python: no ring, no torch.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tracker/stacks/code_text.h"
#include "tracker/stacks/frame_layout.h"
#include "tracker/stacks/frame_walk.h"
#include "tracker/stacks/line_table.h"

namespace memoir {
namespace {

const char* PointerIn(const char* object, int offset) {
  const char* pointer;
  std::memcpy(&pointer, object + offset, sizeof pointer);
  return pointer;
}

std::uint32_t LineOf(const FrameLayout& layout, const FramePosition& frame) {
  const char* table = PointerIn(frame.code, layout.line_table);
  std::int64_t size;
  std::int32_t first;
  std::memcpy(&size, table + 16, sizeof size);
  std::memcpy(&first, frame.code + layout.first_line, sizeof first);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(table + 32);
  return (layout.lines_in_pairs ? LineInPairs : LineInLocations)(bytes, static_cast<std::size_t>(size), first,
                                                                 frame.instruction);
}

class Writer {
 public:
  Writer(char* to, std::size_t size) : to_(to), left_(size) {}
  void Add(const FrameLayout& layout, const FramePosition& frame) {
    char file[1024], function[1024];
    CopyText(layout, PointerIn(frame.code, layout.file), file, sizeof file);
    CopyText(layout, PointerIn(frame.code, layout.function), function, sizeof function);
    const int used = std::snprintf(to_, left_, "%s\t%s\t%u\n", file, function, LineOf(layout, frame));
    const std::size_t bytes = std::min(static_cast<std::size_t>(used), left_ - 1);
    to_ += bytes;
    left_ -= bytes;
  }

 private:
  char* to_;
  std::size_t left_;
};

}  // namespace
}  // namespace memoir

extern "C" {

// Innermost first, a line each: file, function, line. -1: no layout, `to` says why; 1: cut.
__attribute__((visibility("default"))) int memoir_test_frames(char* to, std::size_t size) {
  const memoir::FrameLayout* layout = memoir::FindFrameLayout(to, size);
  if (layout == nullptr) return -1;
  *to = '\0';
  memoir::Writer writer(to, size);
  return memoir::WalkFrames(*layout, [&](const memoir::FramePosition& frame) { writer.Add(*layout, frame); }) ? 0 : 1;
}

// Walks `times` times; what it sees goes nowhere.
__attribute__((visibility("default"))) std::uint64_t memoir_test_walk(std::uint64_t times) {
  char problem[256];
  const memoir::FrameLayout* layout = memoir::FindFrameLayout(problem, sizeof problem);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; layout != nullptr && i < times; ++i)
    memoir::WalkFrames(*layout, [&](const memoir::FramePosition& frame) { sum += frame.instruction; });
  return sum;
}

}  // extern "C"
