// What a collective makes of the ranks' parts: sum, product, maximum, minimum, average, over every type that NCCL has.
//
// Pure functions over host memory; any thread. Parts are combined in the order of the ranks, so that each rank gets the
// same bits. Floats of 8 and 16 bits are combined as float and rounded once; those of 8 bits saturate, as NCCL's do.
#ifndef INTERPOSE_SIMCUDA_REDUCTION_H_
#define INTERPOSE_SIMCUDA_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir::simcuda {

// Numbered as NCCL does.
enum class Element {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8E4M3,
  kFloat8E5M2,
};
constexpr int kElements = 12;

enum class Reduction { kSum, kProduct, kMaximum, kMinimum, kAverage };  // as NCCL does
constexpr int kReductions = 5;

struct Operation {
  Reduction reduction = Reduction::kSum;
  bool scaled = false;  // each part is multiplied by `scale` before
  double scale = 1;
};

std::size_t BytesOf(Element element);

// Each rank's bytes, by rank. `same`: all of them are the first one's, whatever is in `of`.
struct Parts {
  std::vector<const char*> of;
  bool same = false;

  std::size_t ranks() const { return of.size(); }
  const char* operator[](std::size_t rank) const { return of[same ? 0 : rank]; }
};

// `count` elements from `offset` bytes into each part on, combined into `out`. No alignment is asked for.
void Reduce(const Parts& parts, std::size_t offset, Element element, std::size_t count, const Operation& operation,
            char* out);

// One element as a number, for the scale of an operation.
double ReadElement(const void* from, Element element);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_REDUCTION_H_
