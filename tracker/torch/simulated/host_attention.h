// Scaled dot product attention on the CPU, as torch's fused kernels for CUDA define it.
#ifndef TRACKER_TORCH_SIMULATED_HOST_ATTENTION_H_
#define TRACKER_TORCH_SIMULATED_HOST_ATTENTION_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>

namespace memoir {

// query [batch, heads, length, size]; key and value may have fewer heads, each for a group of the query's.
struct Attention {
  at::Tensor query, key, value, bias;  // bias: undefined, or added to the scores
  bool is_causal = false;
  std::optional<double> scale;
};

struct AttentionResult {
  at::Tensor output, log_sum_exp;
};
AttentionResult Attend(const Attention& attention);

// Of query, key, value and bias (undefined without one).
std::array<at::Tensor, 4> AttendBackward(const Attention& attention, const at::Tensor& output,
                                         const at::Tensor& output_gradient);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_HOST_ATTENTION_H_
