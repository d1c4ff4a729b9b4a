#include "tracker/detail/known_steps.h"

#include <sys/mman.h>

#include <array>
#include <cstddef>

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

constexpr std::size_t kSlots = 1u << 20;
constexpr std::size_t kBytes = kSlots * sizeof(std::uint64_t);
constexpr std::size_t kMostProbes = 64;
constexpr std::uint64_t kCountBits = 3;  // the low bits of a slot; the others are those of a number
static_assert(kTimesInFull <= kCountBits && kMostKnownAllocations * 2 <= kSlots);

constinit std::atomic<std::uint64_t>* table = nullptr;  // mapped once, kept: hooks may run until the very end
constinit std::atomic<std::uint64_t> entries{0};
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
};
constexpr std::size_t kDevices = 32;
constinit std::array<Sequence, 1 + kDevices> sequences{};  // the host's, then those of CUDA's devices

// As splitmix64 ends.
std::uint64_t Mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t Load(std::size_t slot) { return table[slot].load(std::memory_order_relaxed); }
std::uint64_t Key(std::uint64_t number) {
  const std::uint64_t key = number & ~kCountBits;
  return key == 0 ? kCountBits + 1 : key;
}

// How often the number was seen in a step recorded in full.
std::uint32_t Times(std::uint64_t number) {
  const std::uint64_t key = Key(number);
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    const std::uint64_t found = Load((number + i) % kSlots);
    if (found == 0) return 0;
    if ((found & ~kCountBits) == key) return static_cast<std::uint32_t>(found & kCountBits);
  }
  return 0;
}

// The same, this time included.
std::uint32_t Count(std::uint64_t number) {
  const std::uint64_t key = Key(number);
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    std::atomic<std::uint64_t>& slot = table[(number + i) % kSlots];
    std::uint64_t found = slot.load(std::memory_order_relaxed);
    if (found == 0) {
      if (entries.load(std::memory_order_relaxed) >= kMostKnownAllocations) return 0;
      if (slot.compare_exchange_strong(found, key | 1, std::memory_order_relaxed)) {
        entries.fetch_add(1, std::memory_order_relaxed);
        return 1;
      }
    }
    if ((found & ~kCountBits) != key) continue;
    const std::uint64_t times = found & kCountBits;
    if (times < kTimesInFull) slot.store(key | (times + 1), std::memory_order_relaxed);
    return static_cast<std::uint32_t>(times < kTimesInFull ? times + 1 : times);
  }
  return 0;
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
  if (what == Mode::kLearned) Count(number);
  if (what == Mode::kExpected && Times(number) < kTimesInFull && !KnownStepsAreFull()) Deviate();
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
         Times(successor.next.load(std::memory_order_relaxed)) >= kTimesInFull;
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
  if (table == nullptr) {
    void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    table = static_cast<std::atomic<std::uint64_t>*>(mapped);
  }
  ForgetKnownSteps();
  step.fetch_add(1, std::memory_order_relaxed);
  step_thread.store(0, std::memory_order_relaxed);
  deviation.store(deviates, std::memory_order_relaxed);
  known_steps::followed.store(true, std::memory_order_release);
  return true;
}

void ForgetKnownSteps() noexcept {
  madvise(table, kBytes, MADV_DONTNEED);  // reads as zero again
  entries.store(0, std::memory_order_relaxed);
  mode.store(Mode::kPassed, std::memory_order_relaxed);
  last_deviation.store(0, std::memory_order_relaxed);
  between_deviations.store(0, std::memory_order_relaxed);
}

void EndKnownSteps() noexcept {
  known_steps::followed.store(false, std::memory_order_relaxed);
  deviation.store(nullptr, std::memory_order_relaxed);
}

void PassKnownStep() noexcept { mode.store(Mode::kPassed, std::memory_order_relaxed); }

bool KnownStepsAreFull() noexcept { return entries.load(std::memory_order_relaxed) >= kMostKnownAllocations; }

bool KnownStepBegins(std::uint32_t thread, bool in_full) noexcept {
  const std::uint64_t number = StepNumber();
  const Mode before = mode.load(std::memory_order_relaxed);
  std::uint32_t times = 0;
  if (before == Mode::kLearned) times = Count(number);
  if (before == Mode::kExpected) times = Times(number);
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
