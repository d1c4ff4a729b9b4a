// The extent of a tensor in its storage, as torch.profiler's SizeMap computes it from sizes and strides.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TENSOR_EXTENT_H_
#define TOOLS_ANALYZE_DATA_FLOW_TENSOR_EXTENT_H_

#include <cstdint>
#include <vector>

#include "tools/model/event/dictionary.h"

namespace memoir {

// Returns the extent in bytes. 0 if the tensor is not strided, or if its dtype is unknown.
std::uint64_t ExtentOf(const Layout& layout);

// Caches the extents of layouts.
class LayoutExtents {
 public:
  std::uint64_t FindExtent(LayoutId layout, const Dictionary& dictionary);

 private:
  std::vector<std::uint64_t> known_;  // by LayoutId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TENSOR_EXTENT_H_
