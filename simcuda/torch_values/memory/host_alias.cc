#include "simcuda/torch_values/memory/host_alias.h"

#include <c10/core/TensorImpl.h>

#include <cstdint>
#include <cstring>

#include "simcuda/torch_values/memory/simulated_memory.h"

namespace memoir {
namespace {

// Largest span of a small tensor: bytes from its first element to the end of its last. Without this bound, a small view
// could extend over all of a large tensor.
constexpr std::int64_t kLargestSpan = 16 << 20;

std::int64_t ItemBytes(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.dtype().itemsize()); }

std::int64_t SpanBytes(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  return (last + 1) * ItemBytes(tensor);
}

std::uint8_t* Data(const at::Tensor& tensor) {
  return static_cast<std::uint8_t*>(const_cast<void*>(tensor.const_data_ptr()));
}

// The split of a tensor's dimensions. The innermost dimensions are contiguous in memory and have `elements` elements.
// The other `outer_dimensions` dimensions are outside of them.
struct ContiguousPart {
  std::int64_t outer_dimensions;
  std::int64_t elements;
};
ContiguousPart InnerPiece(const at::Tensor& tensor) {
  ContiguousPart piece{tensor.dim(), 1};
  while (piece.outer_dimensions > 0) {
    const std::int64_t i = piece.outer_dimensions - 1;
    if (tensor.size(i) != 1 && tensor.stride(i) != piece.elements) break;
    piece.elements *= tensor.size(i);
    --piece.outer_dimensions;
  }
  return piece;
}

// Calls visit(address, bytes) for each contiguous piece of memory with elements of the dimensions from `i` on, until
// `visit` returns false.
template <typename Visit>
bool EachPiece(const at::Tensor& tensor, const ContiguousPart& piece, std::int64_t i, std::uint8_t* data,
               const Visit& visit) {
  const std::int64_t item = ItemBytes(tensor);
  if (i == piece.outer_dimensions) return visit(data, static_cast<std::size_t>(piece.elements * item));
  const std::int64_t repeated = tensor.stride(i) == 0 ? 1 : tensor.size(i);
  for (std::int64_t k = 0; k < repeated; ++k) {
    if (!EachPiece(tensor, piece, i + 1, data + k * tensor.stride(i) * item, visit)) return false;
  }
  return true;
}

template <typename Visit>
bool EachPiece(const at::Tensor& tensor, const Visit& visit) {
  if (tensor.numel() == 0) return true;
  if (tensor.is_non_overlapping_and_dense()) return visit(Data(tensor), static_cast<std::size_t>(SpanBytes(tensor)));
  return EachPiece(tensor, InnerPiece(tensor), 0, Data(tensor), visit);
}

}  // namespace

bool IsSmall(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || !tensor.has_storage() || tensor.is_quantized()) return false;
  if (!tensor.is_cuda() && !tensor.is_cpu()) return false;
  const auto elements = static_cast<std::uint64_t>(tensor.numel());
  return elements <= kLargestComputed && elements * tensor.dtype().itemsize() <= kLargestComputed &&
         SpanBytes(tensor) <= kLargestSpan;
}

bool IsKnown(const at::Tensor& tensor) {
  if (IsKnown(Data(tensor), static_cast<std::size_t>(SpanBytes(tensor)))) return true;
  return EachPiece(tensor, [](const std::uint8_t* data, std::size_t bytes) { return IsKnown(data, bytes); });
}

bool MarkKnown(const at::Tensor& tensor) {
  return EachPiece(tensor, [](std::uint8_t* data, std::size_t bytes) { return MarkKnown(data, bytes); });
}

void MarkUnknown(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || !tensor.has_storage()) return;
  if (!IsSmall(tensor)) {  // also marks the gaps between the elements, to save time
    MarkUnknown(Data(tensor), static_cast<std::size_t>(SpanBytes(tensor)));
    return;
  }
  EachPiece(tensor, [](std::uint8_t* data, std::size_t bytes) {
    MarkUnknown(data, bytes);
    return true;
  });
}

std::vector<char> CopyOfBytes(const at::Tensor& tensor) {
  std::vector<char> bytes;
  EachPiece(tensor, [&](const std::uint8_t* data, std::size_t count) {
    bytes.insert(bytes.end(), data, data + count);
    return true;
  });
  return bytes;
}

void PutBytes(const at::Tensor& tensor, const std::vector<char>& bytes) {
  if (!MarkKnown(tensor)) return;
  const char* from = bytes.data();
  EachPiece(tensor, [&](std::uint8_t* data, std::size_t count) {
    std::memcpy(data, from, count);
    from += count;
    return true;
  });
}

at::Tensor HostAlias(const at::Tensor& tensor) {
  const c10::Device host(c10::DeviceType::CPU);
  c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(SpanBytes(tensor)),
                       c10::DataPtr(Data(tensor), host), nullptr, false);
  at::Tensor alias = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  alias.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  return alias;
}

}  // namespace memoir
