// Combines the ranks' parts in a collective: sum, product, maximum, minimum, average, for every element type of NCCL.
//
// Pure functions over host memory; any thread. Parts are combined in the order of the ranks, so each rank gets the same
// bits. Floats of 8 and 16 bits are combined as float and rounded once; floats of 8 bits saturate, as in NCCL.
#ifndef SIMCUDA_COLLECTIVES_REDUCTION_H_
#define SIMCUDA_COLLECTIVES_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir::simcuda {

// ncclDataType_t has the same numbers.
enum class ElementType {
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

enum class Reduction { kSum, kProduct, kMaximum, kMinimum, kAverage };  // numbers of ncclRedOp_t
constexpr int kReductions = 5;

struct ReduceOperation {
  Reduction reduction = Reduction::kSum;
  bool scaled = false;  // each part is multiplied by `scale` before it is combined
  double scale = 1;
};

std::size_t BytesOf(ElementType element);

// The part of each rank; `of` is indexed by rank. If `same` is true, all ranks have the part of rank 0, and only
// `of[0]` is read.
struct RankParts {
  std::vector<const char*> of;
  bool same = false;

  std::size_t ranks() const { return of.size(); }
  const char* operator[](std::size_t rank) const { return of[same ? 0 : rank]; }
};

// Combines `count` elements, which begin `offset` bytes into each part, and writes the result to `out`. The parts and
// `out` need no alignment.
void Reduce(const RankParts& parts, std::size_t offset, ElementType element, std::size_t count,
            const ReduceOperation& operation, char* out);

// Reads one element as a number, such as the scale of an operation.
double ReadElement(const void* from, ElementType element);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_COLLECTIVES_REDUCTION_H_
