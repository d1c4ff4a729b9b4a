// How far a tensor reaches into its storage, as torch.profiler's SizeMap takes it from sizes and strides.
#ifndef TOOLS_ANALYZE_DATA_FLOW_TENSOR_EXTENT_H_
#define TOOLS_ANALYZE_DATA_FLOW_TENSOR_EXTENT_H_

#include <cstdint>
#include <vector>

#include "tools/model/dictionary.h"

namespace memoir {

// Bytes; 0 for what is no strided tensor, or of a dtype that is not known.
std::uint64_t ExtentOf(const Layout& layout);

// Of layouts, each once.
class LayoutExtents {
 public:
  std::uint64_t Of(LayoutId layout, const Dictionary& dictionary);

 private:
  std::vector<std::uint64_t> known_;  // by LayoutId
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_TENSOR_EXTENT_H_
