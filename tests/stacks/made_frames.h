// An interpreter of the tests' own: its thread has a frame, a frame has the one before and its code, code has its type
// and its texts.
#ifndef TESTS_STACKS_MADE_FRAMES_H_
#define TESTS_STACKS_MADE_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tests/interpose/numbered_records.h"
#include "tracker/stacks/code_table.h"
#include "tracker/stacks/frame_layout.h"

namespace memoir {

// As a compact ASCII str.
struct MadeText {
  constexpr explicit MadeText(std::string_view of) : length(static_cast<std::int64_t>(of.size())) {
    for (std::size_t i = 0; i < of.size() && i < text.size(); ++i) text[i] = of[i];
  }
  std::uint64_t references = 1;
  const void* type = nullptr;
  std::int64_t length;
  std::int64_t hash = 0;
  std::uint64_t state = (1 | 8 | 16) << 2;
  std::array<char, 64> text{};
};
struct MadeCode {
  std::uint64_t references = 1;
  const void* type = nullptr;
  const MadeText* file = nullptr;
  const MadeText* function = nullptr;
  const void* line_table = nullptr;
  std::uint64_t first_line = 0;
};
struct MadeFrame {
  const MadeFrame* previous = nullptr;
  const MadeCode* code = nullptr;
  char owner = 0;
  std::uint32_t instruction = 0;
};
struct MadeThread {
  const MadeFrame* frame = nullptr;
};

alignas(16) inline constinit std::array<char, 512> made_code_type{};
inline constinit MadeThread made_thread{};

inline const FrameLayout kMadeLayout = {.thread_state = +[]() -> void* { return &made_thread; },
                                        .code_type = made_code_type.data(),
                                        .frame = offsetof(MadeThread, frame),
                                        .through = -1,
                                        .previous = offsetof(MadeFrame, previous),
                                        .code = offsetof(MadeFrame, code),
                                        .instruction = offsetof(MadeFrame, instruction),
                                        .owner = offsetof(MadeFrame, owner),
                                        .file = offsetof(MadeCode, file),
                                        .function = offsetof(MadeCode, function),
                                        .line_table = offsetof(MadeCode, line_table),
                                        .first_line = offsetof(MadeCode, first_line),
                                        .instructions = 0,
                                        .ascii_text = offsetof(MadeText, text),
                                        .other_text = offsetof(MadeText, text),
                                        .lines_in_pairs = false};

class MadeFramesTest : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    void (*const die)(void*) = +[](void*) {};
    std::memcpy(made_code_type.data() + 48, static_cast<const void*>(&die), sizeof die);
    Open(kMinRingBytes);
    PrepareCodes(kMadeLayout);
  }
};

}  // namespace memoir

#endif  // TESTS_STACKS_MADE_FRAMES_H_
