// Which module's calls begin steps, in a program that marks none: of those that no other module's call encloses, the
// first that was called kCallsOfStepModule times.
//
//     text encoder ─ U-Net ─ U-Net ─ ··· ─ U-Net ─ decoder       the U-Net
//     encoder ─ decoder ─ encoder ─ decoder ─ ···                 the encoder
//
// Until then a program has had the time to show that it trains: its optimizer's steps are the better ones. Another
// module takes over once it was called as often without a call of the chosen one in between: a program that loads one
// model behind the other has steps of each.
//
// Modules are addresses; where one is freed and another has its address, that one's calls count. Not for several
// threads at the same time.
#ifndef TRACKER_DETAIL_STEP_MODULE_H_
#define TRACKER_DETAIL_STEP_MODULE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace memoir {

inline constexpr std::uint32_t kCallsOfStepModule = 16;

class StepModule {
 public:
  // A call of `module` begins. The number of the step that begins with it, if one does: how many calls there were of
  // the chosen one before, so that a program with one model has the numbers of its calls.
  std::optional<std::uint64_t> Called(std::uint64_t module);

 private:
  // Counted since the step with this number.
  struct Other {
    std::uint64_t module = 0, step = 0;
    std::uint32_t calls = 0;
  };
  Other& Find(std::uint64_t module);

  static constexpr std::size_t kOthers = 256;
  std::array<Other, kOthers> others_{};
  std::uint64_t chosen_ = 0;
  std::uint64_t next_ = 0;  // step
};

}  // namespace memoir

#endif  // TRACKER_DETAIL_STEP_MODULE_H_
