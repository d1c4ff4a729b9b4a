// Values for results that no kernel computed. If a program copies such a result to the host, the copy writes one of
// these values. Each thread has its own values.
//
// The shape of some results depends on values (aten::nonzero). For such an operator, torch counts in a kernel, copies
// the count to the host, and allocates a result of that size. Memoir computes the count without the kernel, and stores
// it here before the operator runs. torch's own code then reads the count from the copy, and allocates the same bytes
// as on a GPU.
#ifndef SIMCUDA_CONTENTS_COPY_ANSWERS_H_
#define SIMCUDA_CONTENTS_COPY_ANSWERS_H_

#include <cstddef>
#include <cstdint>

namespace memoir::simcuda {

constexpr std::size_t kMostAnswers = 4;

struct CopyAnswers {
  std::uint64_t values[kMostAnswers];
  std::uint32_t count;  // 0: no answers
  std::uint32_t next;   // index of the next answer; the last one repeats
};

// Sets the calling thread's answers, and returns the previous ones.
CopyAnswers ExchangeAnswers(const CopyAnswers& answers);

// Writes the thread's next answer as an integer of `bytes` (1, 2, 4 or 8) to `to`. False if there is no answer.
bool TakeAnswer(void* to, std::size_t bytes);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_CONTENTS_COPY_ANSWERS_H_
