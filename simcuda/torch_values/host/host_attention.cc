#include "simcuda/torch_values/host/host_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <limits>

namespace memoir {
namespace {

double ScaleOf(const Attention& attention) {
  return attention.scale.value_or(1.0 / std::sqrt(static_cast<double>(attention.query.size(-1))));
}

at::ScalarType ComputeType(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// Repeats the heads of `tensor`, so that the result has as many heads as the query.
at::Tensor Spread(const at::Tensor& tensor, const at::Tensor& query) {
  const at::Tensor wide = tensor.to(ComputeType(tensor));
  return tensor.size(1) == query.size(1) ? wide : wide.repeat_interleave(query.size(1) / tensor.size(1), 1);
}

at::Tensor Gather(const at::Tensor& gradient, const at::Tensor& tensor) {
  if (gradient.size(1) == tensor.size(1)) return gradient.to(tensor.scalar_type());
  const auto groups = gradient.size(1) / tensor.size(1);
  return gradient.unflatten(1, {tensor.size(1), groups}).sum(2).to(tensor.scalar_type());
}

at::Tensor Scores(const Attention& attention) {
  const at::Tensor query = attention.query.to(ComputeType(attention.query));
  at::Tensor scores = at::matmul(query, Spread(attention.key, query).transpose(-2, -1)) * ScaleOf(attention);
  if (attention.bias.defined()) scores = scores + attention.bias.to(scores.scalar_type());
  if (!attention.is_causal) return scores;
  const at::Tensor seen = at::ones({scores.size(-2), scores.size(-1)}, at::kBool).tril();
  return scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
}

// Returns the weights of the attention. If a query may attend to no key, its weights are 0.
at::Tensor Weights(const at::Tensor& scores, const at::Tensor& log_sum_exp) {
  return at::nan_to_num(at::exp(scores - log_sum_exp.unsqueeze(-1)), 0.0);
}

}  // namespace

AttentionResult Attend(const Attention& attention) {
  const at::Tensor scores = Scores(attention);
  const at::Tensor log_sum_exp = at::logsumexp(scores, {-1});
  const at::Tensor output = at::matmul(Weights(scores, log_sum_exp), Spread(attention.value, attention.query));
  return {output.to(attention.query.scalar_type()), log_sum_exp};
}

std::array<at::Tensor, 4> AttendBackward(const Attention& attention, const at::Tensor& output,
                                         const at::Tensor& output_gradient) {
  const at::Tensor scores = Scores(attention);
  const at::Tensor weights = Weights(scores, at::logsumexp(scores, {-1}));
  const at::Tensor gradient = output_gradient.to(weights.scalar_type());
  const at::Tensor to_weights = at::matmul(gradient, Spread(attention.value, attention.query).transpose(-2, -1));
  const at::Tensor shared = (gradient * output.to(weights.scalar_type())).sum(-1, true);
  const at::Tensor to_scores = weights * (to_weights - shared);
  const double scale = ScaleOf(attention);
  const at::Tensor query = attention.query.to(weights.scalar_type());
  at::Tensor to_bias;
  if (attention.bias.defined())
    to_bias = to_scores.sum_to_size(attention.bias.sizes()).to(attention.bias.scalar_type());
  return {(at::matmul(to_scores, Spread(attention.key, query)) * scale).to(attention.query.scalar_type()),
          Gather(at::matmul(to_scores.transpose(-2, -1), query) * scale, attention.key),
          Gather(at::matmul(weights.transpose(-2, -1), gradient), attention.value), to_bias};
}

}  // namespace memoir
