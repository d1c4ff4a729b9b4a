#include "tracker/repeated_steps/repeated_steps.h"

#include <array>
#include <cstddef>

#include "tracker/repeated_steps/reference_numbers.h"

namespace memoir {
namespace repeated_steps {

constinit std::atomic<bool> followed{false};

}  // namespace repeated_steps

namespace {

// The mode of the current step.
enum class Mode : std::uint32_t {
  kPassed,    // neither recorded in full from its begin on, nor expected to repeat
  kLearned,   // recorded in full; its numbers are counted
  kExpected,  // recorded without operators, as long as its numbers have been counted often enough
};

using reference_numbers::Count;
using reference_numbers::TimesSeen;

constinit std::atomic<void (*)()> deviation{nullptr};
constinit std::atomic<std::uint64_t> step{0};  // running number of the current step
constinit std::atomic<Mode> mode{Mode::kPassed};
constinit std::atomic<std::uint32_t> step_thread{0};

// The last step that deviated, or was expected to deviate, and the distance in steps between the last two such steps.
// 0: unknown.
constinit std::atomic<std::uint64_t> last_deviation{0}, between_deviations{0};

// Maps the number (the hash of all allocations) of a step to the number of the step that followed it the last time.
struct Successor {
  std::atomic<std::uint64_t> step{0}, next{0};
};
constexpr std::size_t kSuccessors = 1024;
constinit std::array<Successor, kSuccessors> successors{};
constinit std::atomic<std::uint64_t> last_step{0};

// A sequence of allocations. Only one thread at a time adds to it: a thread that holds the lock of the device's
// allocator, or the step thread. If a step begins while a thread adds an allocation, the number may mix allocations of
// both steps. Then it equals no earlier number, so the step does not repeat.
struct alignas(64) Sequence {
  std::atomic<std::uint64_t> number{0};  // number for the allocations since the step began
  std::atomic<std::uint64_t> step{0};    // running number of the step with the last allocation
  reference_numbers::Cursor cursor{0};
};
constexpr std::size_t kDevices = 32;
constinit std::array<Sequence, 1 + kDevices> sequences{};  // [0]: the host's; the others: one for each CUDA device
constinit reference_numbers::Cursor step_cursor{0};

// Mixes the bits of `value` like the last part of splitmix64.
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
  if (what == Mode::kExpected && TimesSeen(number, sequence.cursor) < kTimesInFull && !ReferenceStepsAreFull())
    Deviate();
}

// Returns the number of the step that ends, which combines the last number of each sequence.
std::uint64_t StepNumber() {
  std::uint64_t number = 0x5bd1e9955bd1e995u;
  const std::uint64_t now = step.load(std::memory_order_relaxed);
  for (const Sequence& sequence : sequences) {
    if (sequence.step.load(std::memory_order_relaxed) == now)
      number = Mix(number + sequence.number.load(std::memory_order_relaxed));
  }
  return number;
}

// Returns true if the step that begins is expected to repeat. `ends` is the number of the step that ends. If a step
// with this number ended earlier, the step that followed it is expected again; the result is true if the expected step
// has a reference step. If no step with this number ended earlier, the result is true.
bool SuccessorIsRepeated(std::uint64_t ends) {
  const std::uint64_t before = last_step.exchange(ends, std::memory_order_relaxed);
  Successor& of_before = successors[before % kSuccessors];
  of_before.step.store(before, std::memory_order_relaxed);
  of_before.next.store(ends, std::memory_order_relaxed);
  const Successor& successor = successors[ends % kSuccessors];
  return successor.step.load(std::memory_order_relaxed) != ends ||
         TimesSeen(successor.next.load(std::memory_order_relaxed), step_cursor) >= kTimesInFull;
}

// Returns true if the step that begins is expected to deviate, because its distance from the last deviation equals the
// distance between the last two deviations. `begins`: running number of the step that begins. `learned`: how often the
// step that ends was counted; 0 if it was not learned. If the step that ends is the last deviation and was counted
// kTimesInFull times, it is a repeated step from now on, and no further deviation is expected at this distance.
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

bool BeginRepeatedSteps(void (*deviates)()) noexcept {
  if (!reference_numbers::MapTable()) return false;
  ForgetReferenceSteps();
  step.fetch_add(1, std::memory_order_relaxed);
  step_thread.store(0, std::memory_order_relaxed);
  deviation.store(deviates, std::memory_order_relaxed);
  repeated_steps::followed.store(true, std::memory_order_release);
  return true;
}

void ForgetReferenceSteps() noexcept {
  reference_numbers::Clear();
  mode.store(Mode::kPassed, std::memory_order_relaxed);
  last_deviation.store(0, std::memory_order_relaxed);
  between_deviations.store(0, std::memory_order_relaxed);
}

void EndRepeatedSteps() noexcept {
  repeated_steps::followed.store(false, std::memory_order_relaxed);
  deviation.store(nullptr, std::memory_order_relaxed);
}

void IgnoreFollowedStep() noexcept { mode.store(Mode::kPassed, std::memory_order_relaxed); }

bool ReferenceStepsAreFull() noexcept { return reference_numbers::IsFull(); }

bool BeginFollowedStep(std::uint32_t thread, bool in_full) noexcept {
  const std::uint64_t number = StepNumber();
  const Mode before = mode.load(std::memory_order_relaxed);
  std::uint32_t times = 0;
  if (before == Mode::kLearned) times = Count(number, step_cursor);
  if (before == Mode::kExpected) times = TimesSeen(number, step_cursor);
  const bool awaited = MayDeviate(step.load(std::memory_order_relaxed) + 1, before == Mode::kLearned ? times : 0);
  const bool follows = SuccessorIsRepeated(number);
  const bool known = (times >= kTimesInFull && follows && !awaited) || ReferenceStepsAreFull();
  step_thread.store(thread, std::memory_order_relaxed);
  const Mode other = in_full ? Mode::kLearned : Mode::kPassed;
  mode.store(known ? Mode::kExpected : other, std::memory_order_relaxed);
  step.fetch_add(1, std::memory_order_relaxed);
  return known;
}

namespace repeated_steps {

void FollowHostBlock(std::uint32_t thread, std::uint8_t device_type, std::uint64_t bytes) noexcept {
  if (thread != step_thread.load(std::memory_order_relaxed)) return;
  Follow(0, bytes ^ static_cast<std::uint64_t>(device_type) << 56);
}

void FollowDeviceBlock(std::int8_t device_index, std::uint64_t requested, std::uint64_t stream) noexcept {
  const std::size_t index = static_cast<std::uint8_t>(device_index);  // -1 becomes 255, which is also out of range
  if (index < kDevices) Follow(1 + index, Mix(requested + 1) + Mix(stream + 2));
}

}  // namespace repeated_steps
}  // namespace memoir
