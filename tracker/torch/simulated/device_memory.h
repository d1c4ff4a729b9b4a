// The simulated device of this process, as the values of small tensors need it: which bytes are known, and what is told
// to those who read others. Any thread, once FindSimulatedDevice found it.
#ifndef TRACKER_TORCH_SIMULATED_DEVICE_MEMORY_H_
#define TRACKER_TORCH_SIMULATED_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// False: no simulated device in this process, or another Memoir's.
bool FindSimulatedDevice();

bool IsKnown(const void* address, std::size_t bytes);
// False: no room; the bytes must not be written.
bool Know(void* address, std::size_t bytes);
void Forget(void* address, std::size_t bytes);
// An allocator dealt out that block of memory that CUDA gave it: its bytes are unknown, and one thing.
void Deal(void* address, std::size_t bytes);

void CountUnknownShape(const char* name);
bool TakesMost();
bool IsCapturing();

// While it lives, the kernels that this thread launches belong to an operator whose results are looked after. What
// others are handed (triton's kernels, extensions') is unknown from then on.
class OperatorGuard {
 public:
  OperatorGuard();
  ~OperatorGuard();
  OperatorGuard(const OperatorGuard&) = delete;
  OperatorGuard& operator=(const OperatorGuard&) = delete;

  // True: it launched kernels itself, or called cuBLAS and its like; not only operators that it calls did.
  bool End();

 private:
  unsigned long long begun_;
  bool ended_ = false;
};

// While it lives, copies of small unknown results to the host give `values` to this thread, in turn; the last one for
// all that follow. At most four.
class AnswerGuard {
 public:
  AnswerGuard(const std::uint64_t* values, std::size_t count);
  ~AnswerGuard();
  AnswerGuard(const AnswerGuard&) = delete;
  AnswerGuard& operator=(const AnswerGuard&) = delete;

 private:
  std::uint64_t before_values_[4];
  unsigned before_count_, before_next_;
};

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_DEVICE_MEMORY_H_
