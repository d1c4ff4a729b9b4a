#include "tracker/detail/known_steps.h"

#include <array>
#include <cstddef>

#include "tracker/detail/known_numbers.h"

namespace memoir {
namespace known_steps {

constinit std::atomic<bool> followed{false};

}  // namespace known_steps

namespace {

// What is done in the step in hand.
enum class Mode : std::uint32_t {
  kPassed,    // it is neither recorded in full from its begin on nor expected to be known
  kLearned,   // recorded in full, and counted
  kExpected,  // recorded without operators, as long as its numbers are known
};

using known_numbers::Count;
using known_numbers::Times;

constinit std::atomic<void (*)()> deviation{nullptr};
constinit std::atomic<std::uint64_t> step{0};
constinit std::atomic<Mode> mode{Mode::kPassed};
constinit std::atomic<std::uint32_t> step_thread{0};

// The step that deviated last, or was awaited since, and how many lie between two of them. 0: none.
constinit std::atomic<std::uint64_t> last_deviation{0}, between_deviations{0};

// By the number of a step: that of the one which followed it last.
struct Successor {
  std::atomic<std::uint64_t> step{0}, next{0};
};
constexpr std::size_t kSuccessors = 1024;
constinit std::array<Successor, kSuccessors> successors{};
constinit std::atomic<std::uint64_t> last_step{0};

// Whoever allocates there is alone: under the device's lock, or on the thread of the steps. A step's begin may meet
// them half-way; then that step is taken for a new one.
struct alignas(64) Sequence {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint64_t> step{0};
  known_numbers::Cursor cursor{0};
};
constexpr std::size_t kDevices = 32;
constinit std::array<Sequence, 1 + kDevices> sequences{};  // the host's, then those of CUDA's devices
constinit known_numbers::Cursor step_cursor{0};

// As splitmix64 ends.
std::uint64_t Mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

void Deviate() {
  const std::uint64_t now = step.load(std::memory_order_relaxed);
  const std::uint64_t last = last_deviation.exchange(now, std::memory_order_relaxed);
  between_deviations.store(last == 0 ? 0 : now - last, std::memory_order_relaxed);
  mode.store(Mode::kPassed, std::memory_order_relaxed);
  if (void (*const deviates)() = deviation.load(std::memory_order_relaxed)) deviates();
}

void Follow(std::size_t which, std::uint64_t allocation) {
  Sequence& sequence = sequences[which];
  const std::uint64_t now = step.load(std::memory_order_relaxed);
  const bool first = sequence.step.load(std::memory_order_relaxed) != now;
  const std::uint64_t before = first ? Mix(which + 1) : sequence.number.load(std::memory_order_relaxed);
  const std::uint64_t number = Mix(before + allocation);
  sequence.number.store(number, std::memory_order_relaxed);
  sequence.step.store(now, std::memory_order_relaxed);
  const Mode what = mode.load(std::memory_order_relaxed);
  if (what == Mode::kLearned) Count(number, sequence.cursor);
  if (what == Mode::kExpected && Times(number, sequence.cursor) < kTimesInFull && !KnownStepsAreFull()) Deviate();
}

// Of the whole step that ends.
std::uint64_t StepNumber() {
  std::uint64_t number = 0x5bd1e9955bd1e995u;
  const std::uint64_t now = step.load(std::memory_order_relaxed);
  for (const Sequence& sequence : sequences) {
    if (sequence.step.load(std::memory_order_relaxed) == now)
      number = Mix(number + sequence.number.load(std::memory_order_relaxed));
  }
  return number;
}

// Whether the step that begins is known, if it is what followed last time. `ends`: the number of the one before it.
bool FollowerIsKnown(std::uint64_t ends) {
  const std::uint64_t before = last_step.exchange(ends, std::memory_order_relaxed);
  Successor& of_before = successors[before % kSuccessors];
  of_before.step.store(before, std::memory_order_relaxed);
  of_before.next.store(ends, std::memory_order_relaxed);
  const Successor& successor = successors[ends % kSuccessors];
  return successor.step.load(std::memory_order_relaxed) != ends ||
         Times(successor.next.load(std::memory_order_relaxed), step_cursor) >= kTimesInFull;
}

// Whether the step that begins may be one that deviates, by those before. `learned`: how often the step that ends was
// seen, where it was learned: one that was awaited and is known by now, or has always been, is awaited no more.
bool MayDeviate(std::uint64_t begins, std::uint32_t learned) {
  const std::uint64_t between = between_deviations.load(std::memory_order_relaxed);
  const std::uint64_t last = last_deviation.load(std::memory_order_relaxed);
  if (between == 0) return false;
  if (last + 1 == begins && learned >= kTimesInFull) {
    between_deviations.store(0, std::memory_order_relaxed);
    last_deviation.store(0, std::memory_order_relaxed);
    return false;
  }
  if (last + between != begins) return false;
  last_deviation.store(begins, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool BeginKnownSteps(void (*deviates)()) noexcept {
  if (!known_numbers::Map()) return false;
  ForgetKnownSteps();
  step.fetch_add(1, std::memory_order_relaxed);
  step_thread.store(0, std::memory_order_relaxed);
  deviation.store(deviates, std::memory_order_relaxed);
  known_steps::followed.store(true, std::memory_order_release);
  return true;
}

void ForgetKnownSteps() noexcept {
  known_numbers::Clear();
  mode.store(Mode::kPassed, std::memory_order_relaxed);
  last_deviation.store(0, std::memory_order_relaxed);
  between_deviations.store(0, std::memory_order_relaxed);
}

void EndKnownSteps() noexcept {
  known_steps::followed.store(false, std::memory_order_relaxed);
  deviation.store(nullptr, std::memory_order_relaxed);
}

void PassKnownStep() noexcept { mode.store(Mode::kPassed, std::memory_order_relaxed); }

bool KnownStepsAreFull() noexcept { return known_numbers::IsFull(); }

bool KnownStepBegins(std::uint32_t thread, bool in_full) noexcept {
  const std::uint64_t number = StepNumber();
  const Mode before = mode.load(std::memory_order_relaxed);
  std::uint32_t times = 0;
  if (before == Mode::kLearned) times = Count(number, step_cursor);
  if (before == Mode::kExpected) times = Times(number, step_cursor);
  const bool awaited = MayDeviate(step.load(std::memory_order_relaxed) + 1, before == Mode::kLearned ? times : 0);
  const bool follows = FollowerIsKnown(number);
  const bool known = (times >= kTimesInFull && follows && !awaited) || KnownStepsAreFull();
  step_thread.store(thread, std::memory_order_relaxed);
  const Mode other = in_full ? Mode::kLearned : Mode::kPassed;
  mode.store(known ? Mode::kExpected : other, std::memory_order_relaxed);
  step.fetch_add(1, std::memory_order_relaxed);
  return known;
}

namespace known_steps {

void FollowHostBlock(std::uint32_t thread, std::uint8_t device_type, std::uint64_t bytes) noexcept {
  if (thread != step_thread.load(std::memory_order_relaxed)) return;
  Follow(0, bytes ^ static_cast<std::uint64_t>(device_type) << 56);
}

void FollowDeviceBlock(std::int8_t device_index, std::uint64_t requested, std::uint64_t stream) noexcept {
  const std::size_t index = static_cast<std::uint8_t>(device_index);  // -1, too, is none that is followed
  if (index < kDevices) Follow(1 + index, Mix(requested + 1) + Mix(stream + 2));
}

}  // namespace known_steps
}  // namespace memoir
