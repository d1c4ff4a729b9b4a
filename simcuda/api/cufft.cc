// cuFFT: the size of a plan's work area, by the formulas of workspaces.txt. torch allocates the area itself.
#include <cufftXt.h>

#include <algorithm>

#include "simcuda/api/exported.h"
#include "simcuda/machine/machine.h"

using memoir::simcuda::TheMachine;
using memoir::simcuda::Word;

namespace {

struct Transforms {
  std::uint64_t elements = 1;  // complex elements of all transforms together
  std::uint64_t batch = 1;
  std::uint64_t largest_factor = 1, largest_size = 1;
  bool real = false;
};

constexpr std::uint64_t kMostInARow = 16384;  // the longest dimension, in elements, that one kernel transforms

const char* Formula(const Transforms& transforms) {
  if (transforms.largest_size > kMostInARow) return "cufft.large";
  if (transforms.largest_factor <= 7) return "cufft.smooth";
  if (transforms.largest_factor <= 127) return "cufft.rough";
  return transforms.real ? "cufft.prime_real" : "cufft.prime";
}

std::uint64_t LargestPrimeFactor(std::uint64_t number) {
  std::uint64_t largest = 1;
  for (std::uint64_t factor = 2; factor * factor <= number; ++factor) {
    for (; number % factor == 0; number /= factor) largest = factor;
  }
  return std::max(largest, number);
}

bool IsReal(cudaDataType type) { return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F; }

std::uint64_t ComplexBytes(cudaDataType execution) {
  switch (execution) {
    case CUDA_C_64F:
    case CUDA_R_64F:
      return 16;
    case CUDA_C_16F:
    case CUDA_R_16F:
    case CUDA_C_16BF:
    case CUDA_R_16BF:
      return 4;
    default:
      return 8;
  }
}

std::uint64_t WorkArea(const Transforms& transforms, std::uint64_t element) {
  return TheMachine().workspaces().Bytes(
      Formula(transforms),
      {{Word::kCount, transforms.elements}, {Word::kBatch, transforms.batch}, {Word::kElement, element}});
}

// For a real transform, the complex side has only about half of the last dimension, and `largest_factor` is the largest
// prime factor of the last dimension alone.
template <typename Integer>
Transforms Describe(int rank, const Integer* sizes, Integer batch, bool real) {
  Transforms transforms;
  transforms.real = real;
  transforms.batch = transforms.elements = static_cast<std::uint64_t>(std::max<Integer>(batch, 0));
  for (int i = 0; i < rank; ++i) {
    const auto size = static_cast<std::uint64_t>(std::max<Integer>(sizes[i], 1));
    transforms.elements *= real && i == rank - 1 ? size / 2 + 1 : size;
    transforms.largest_size = std::max(transforms.largest_size, size);
    if (!real || i == rank - 1)
      transforms.largest_factor = std::max(transforms.largest_factor, LargestPrimeFactor(size));
  }
  return transforms;
}

template <typename Integer>
cufftResult Many(int rank, const Integer* sizes, cufftType type, Integer batch, std::size_t* bytes) {
  const bool real = type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_D2Z || type == CUFFT_Z2D;
  const bool twice = type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
  *bytes = WorkArea(Describe(rank, sizes, batch, real), twice ? 16 : 8);
  return CUFFT_SUCCESS;
}

}  // namespace

SIMULATED cufftResult cufftXtGetSizeMany(cufftHandle, int rank, long long* sizes, long long*, long long, long long,
                                         cudaDataType input, long long*, long long, long long, cudaDataType output,
                                         long long batch, std::size_t* bytes, cudaDataType execution) {
  *bytes = WorkArea(Describe(rank, sizes, batch, IsReal(input) || IsReal(output)), ComplexBytes(execution));
  return CUFFT_SUCCESS;
}

SIMULATED cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* sizes, long long* in_embed,
                                          long long in_stride, long long in_distance, cudaDataType input,
                                          long long* out_embed, long long out_stride, long long out_distance,
                                          cudaDataType output, long long batch, std::size_t* bytes,
                                          cudaDataType execution) {
  return cufftXtGetSizeMany(plan, rank, sizes, in_embed, in_stride, in_distance, input, out_embed, out_stride,
                            out_distance, output, batch, bytes, execution);
}

SIMULATED cufftResult cufftMakePlanMany(cufftHandle, int rank, int* sizes, int*, int, int, int*, int, int,
                                        cufftType type, int batch, std::size_t* bytes) {
  return Many(rank, sizes, type, batch, bytes);
}

SIMULATED cufftResult cufftMakePlanMany64(cufftHandle, int rank, long long* sizes, long long*, long long, long long,
                                          long long*, long long, long long, cufftType type, long long batch,
                                          std::size_t* bytes) {
  return Many(rank, sizes, type, batch, bytes);
}

SIMULATED cufftResult cufftEstimateMany(int rank, int* sizes, int*, int, int, int*, int, int, cufftType type, int batch,
                                        std::size_t* bytes) {
  return Many(rank, sizes, type, batch, bytes);
}
