// What a thread is told when it reads a result that no kernel wrote.
//
// An operator whose result has a shape that depends on values lets a kernel count, copies the count to the host, and
// allocates by it. Whoever knows the count without the kernel leaves it here before the operator runs: torch's own code
// then takes it from the copy, and allocates what it would on a GPU.
#ifndef INTERPOSE_SIMCUDA_ANSWERS_H_
#define INTERPOSE_SIMCUDA_ANSWERS_H_

#include <cstddef>
#include <cstdint>

namespace memoir::simcuda {

constexpr std::size_t kMostAnswers = 4;

struct Answers {
  std::uint64_t values[kMostAnswers];
  std::uint32_t count;  // 0: nothing is answered
  std::uint32_t next;   // the last one is for all further reads
};

// Sets the calling thread's answers, and returns those before.
Answers ExchangeAnswers(const Answers& answers);

// Writes the thread's next answer as an integer of `bytes` (1, 2, 4 or 8) to `to`. False: there is none.
bool TakeAnswer(void* to, std::size_t bytes);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_ANSWERS_H_
