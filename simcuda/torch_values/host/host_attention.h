// Scaled dot product attention on the CPU, as torch's fused kernels for CUDA define it.
#ifndef SIMCUDA_TORCH_VALUES_HOST_HOST_ATTENTION_H_
#define SIMCUDA_TORCH_VALUES_HOST_HOST_ATTENTION_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

namespace memoir {

// The arguments. The shape of `query` is [batch, heads, length, size]. Key and value may have fewer heads; each of
// their heads then serves a group of the query's heads.
struct Attention {
  at::Tensor query, key, value, bias;  // `bias` is added to the scores; undefined: no bias
  bool is_causal = false;
  std::optional<double> scale;
};

struct AttentionResult {
  at::Tensor output, log_sum_exp;
};
AttentionResult Attend(const Attention& attention);

// Returns the gradients of query, key, value and bias. The last one is undefined if there is no bias.
std::array<at::Tensor, 4> AttendBackward(const Attention& attention, const at::Tensor& output,
                                         const at::Tensor& output_gradient);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_HOST_ATTENTION_H_
