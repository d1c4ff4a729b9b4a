// Calls the simulated device of this process: marks bytes as known or unknown, and sets the values that reads of
// unknown bytes return. Any thread, after FindSimulatedDevice returned true.
#ifndef SIMCUDA_TORCH_VALUES_MEMORY_SIMULATED_MEMORY_H_
#define SIMCUDA_TORCH_VALUES_MEMORY_SIMULATED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// Looks for the simulated device. False if this process has no simulated device, or if the device belongs to another
// version of Memoir.
bool FindSimulatedDevice();

bool IsKnown(const void* address, std::size_t bytes);
// Marks the bytes as known. False if no more pages may be written (contents.h); the caller must not write then.
bool MarkKnown(void* address, std::size_t bytes);
void MarkUnknown(void* address, std::size_t bytes);
// Called when torch's allocator returns a block. The bytes of the block become unknown. From then on, a kernel that
// receives an address in the block is assumed to write to this block alone.
void MarkAllocated(void* address, std::size_t bytes);

void CountUnknownShape(const char* name);
bool TakesMost();
bool IsCapturing();

// While this object exists, the kernels that this thread launches belong to an operator, and the owner of this object
// marks the operator's results. If other kernels (triton's, extensions') receive a block, the block becomes unknown.
class OperatorGuard {
 public:
  OperatorGuard();
  ~OperatorGuard();
  OperatorGuard(const OperatorGuard&) = delete;
  OperatorGuard& operator=(const OperatorGuard&) = delete;

  // Returns true if the operator itself launched kernels, or called cuBLAS or a similar library. Launches by other
  // operators that it calls do not count.
  bool End();

 private:
  unsigned long long begun_;
  bool ended_ = false;
};

// While this object exists, a copy of a small unknown result to the host returns one of `values` to this thread: the
// first copy returns the first value, and so on. Further copies return the last value. At most four values.
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

#endif  // SIMCUDA_TORCH_VALUES_MEMORY_SIMULATED_MEMORY_H_
