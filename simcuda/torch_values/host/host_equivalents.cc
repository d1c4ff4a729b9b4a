#include "simcuda/torch_values/host/host_equivalents.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include "simcuda/torch_values/host/host_attention.h"

namespace memoir {
namespace {

using Arguments = std::vector<c10::IValue>;
using Results = std::optional<std::vector<c10::IValue>>;

at::Tensor OptionalTensor(const c10::IValue& value) { return value.isTensor() ? value.toTensor() : at::Tensor(); }

// Draws and scales in the same way as torch's dropout on the CPU.
Results Dropout(const Arguments& arguments, const at::Generator& generator) {
  const at::Tensor& input = arguments[0].toTensor();
  const double kept = 1 - arguments[1].toDouble();
  const bool train = arguments[2].isNone() || arguments[2].toBool();
  if (!train) return Arguments{input.clone(), at::ones_like(input, input.options().dtype(at::kBool))};
  const at::Tensor noise = at::empty_like(input).bernoulli_(kept, generator);
  const at::Tensor mask = noise.to(at::kBool);
  return Arguments{kept == 0 ? input * noise : input * (noise / kept), mask};
}

Results BatchNorm(const Arguments& a, const at::Generator&) {
  const auto [output, mean, inverse] =
      at::native_batch_norm(a[0].toTensor(), a[1].toTensor(), OptionalTensor(a[2]), OptionalTensor(a[3]),
                            OptionalTensor(a[4]), a[5].toBool(), a[6].toDouble(), a[7].toDouble());
  return Arguments{output, mean, inverse, c10::IValue()};
}

Results BatchNormBackward(const Arguments& a, const at::Generator&) {
  const auto [input, weight, bias] = at::native_batch_norm_backward(
      a[1].toTensor(), a[0].toTensor(), a[2].toTensor(), OptionalTensor(a[3]), OptionalTensor(a[4]),
      OptionalTensor(a[5]), OptionalTensor(a[6]), true, a[7].toDouble(), {true, true, true});
  return Arguments{input, weight, bias};
}

// Positions of the arguments of a fused kernel.
struct Places {
  std::size_t query, bias, dropout, is_causal, scale;  // key and value follow the query; kNone: no such argument
};
constexpr std::size_t kNone = 99;

std::optional<Attention> AttentionOf(const Arguments& a, const Places& places) {
  if (a[places.dropout].toDouble() > 0) return std::nullopt;
  Attention attention{a[places.query].toTensor(),     a[places.query + 1].toTensor(),
                      a[places.query + 2].toTensor(), {},
                      a[places.is_causal].toBool(),   a[places.scale].toOptional<double>()};
  if (places.bias != kNone) attention.bias = OptionalTensor(a[places.bias]);
  return attention;
}

template <Places kPlaces, std::size_t kResults>
Results Forward(const Arguments& a, const at::Generator&) {
  const auto attention = AttentionOf(a, kPlaces);
  if (!attention.has_value()) return std::nullopt;
  const AttentionResult result = Attend(*attention);
  Arguments results(kResults);
  results[0] = result.output;
  results[1] = result.log_sum_exp;
  return results;
}

template <Places kPlaces, std::size_t kOutput, std::size_t kResults>
Results Backward(const Arguments& a, const at::Generator&) {
  const auto attention = AttentionOf(a, kPlaces);
  if (!attention.has_value()) return std::nullopt;
  const auto gradients = AttendBackward(*attention, a[kOutput].toTensor(), a[0].toTensor());
  return Arguments(gradients.begin(), gradients.begin() + kResults);
}

// Computes one step of an LSTM cell. The order of the gates is torch's: input, forget, cell, output.
Results LstmCell(const Arguments& a, const at::Generator&) {
  at::Tensor gates = a[0].toTensor() + a[1].toTensor();
  if (a[3].isTensor()) gates = gates + a[3].toTensor() + a[4].toTensor();
  const auto parts = gates.chunk(4, 1);
  const at::Tensor input = parts[0].sigmoid(), forget = parts[1].sigmoid(), cell = parts[2].tanh();
  const at::Tensor output = parts[3].sigmoid();
  const at::Tensor state = forget * a[2].toTensor() + input * cell;
  return Arguments{output * state.tanh(), state, at::cat({input, forget, cell, output}, 1)};
}

Results LstmCellBackward(const Arguments& a, const at::Generator&) {
  const at::Tensor& before = a[2].toTensor();
  const at::Tensor state = a[3].toTensor().tanh();
  const auto parts = a[4].toTensor().chunk(4, 1);
  const at::Tensor &input = parts[0], &forget = parts[1], &cell = parts[2], &output = parts[3];
  const at::Tensor to_hidden = a[0].isTensor() ? a[0].toTensor() : at::zeros_like(before);
  at::Tensor to_state = to_hidden * output * (1 - state * state);
  if (a[1].isTensor()) to_state = to_state + a[1].toTensor();
  const at::Tensor to_gates = at::cat({to_state * cell * input * (1 - input), to_state * before * forget * (1 - forget),
                                       to_state * input * (1 - cell * cell), to_hidden * state * output * (1 - output)},
                                      1);
  return Arguments{to_gates, to_state * forget, a[5].toBool() ? c10::IValue(to_gates.sum(0)) : c10::IValue()};
}

// Computes one step of a GRU cell. The order of the gates is torch's: reset, update, new. The second result, which only
// the backward pass needs, is not computed, because the backward pass is not computed either.
Results GruCell(const Arguments& a, const at::Generator&) {
  const bool biased = a[3].isTensor();
  const auto in = (biased ? a[0].toTensor() + a[3].toTensor() : a[0].toTensor()).chunk(3, 1);
  const auto hidden = (biased ? a[1].toTensor() + a[4].toTensor() : a[1].toTensor()).chunk(3, 1);
  const at::Tensor reset = (in[0] + hidden[0]).sigmoid(), update = (in[1] + hidden[1]).sigmoid();
  const at::Tensor fresh = (in[2] + reset * hidden[2]).tanh();
  return Arguments{fresh + update * (a[2].toTensor() - fresh), c10::IValue()};
}

constexpr Places kFlash{0, kNone, 3, 4, 6}, kEfficient{0, 3, 5, 6, 7}, kCudnn{0, 3, 5, 6, 8};
constexpr Places kFlashBack{1, kNone, 10, 11, 14}, kEfficientBack{1, 4, 9, 11, 12}, kCudnnBack{1, 8, 13, 14, 15};

constexpr std::uint32_t Bits(std::initializer_list<int> places) {
  std::uint32_t bits = 0;
  for (const int place : places) bits |= 1u << place;
  return bits;
}

constexpr HostEquivalent kEquivalents[] = {
    {"aten::native_dropout", Dropout, 0, 0, true},
    {"aten::cudnn_batch_norm", BatchNorm, 0, Bits({3, 4}), false},
    {"aten::cudnn_batch_norm_backward", BatchNormBackward, Bits({8}), 0, false},
    {"aten::_scaled_dot_product_flash_attention", Forward<kFlash, 9>, 0, 0, false},
    {"aten::_scaled_dot_product_efficient_attention", Forward<kEfficient, 4>, 0, 0, false},
    {"aten::_scaled_dot_product_cudnn_attention", Forward<kCudnn, 9>, 0, 0, false},
    {"aten::_scaled_dot_product_flash_attention_backward", Backward<kFlashBack, 4, 3>, Bits({5, 6, 7, 12, 13}), 0,
     false},
    {"aten::_scaled_dot_product_efficient_attention_backward", Backward<kEfficientBack, 5, 4>, Bits({6, 7, 8}), 0,
     false},
    {"aten::_scaled_dot_product_cudnn_attention_backward", Backward<kCudnnBack, 4, 3>, Bits({5, 6, 7, 9, 10}), 0,
     false},
    {"aten::_thnn_fused_lstm_cell", LstmCell, 0, 0, false},
    {"aten::_thnn_fused_lstm_cell_backward_impl", LstmCellBackward, 0, 0, false},
    {"aten::_thnn_fused_gru_cell", GruCell, 0, 0, false},
};

}  // namespace

const HostEquivalent* FindHostEquivalent(std::string_view name) {
  const auto* const found = std::ranges::find(kEquivalents, name, &HostEquivalent::name);
  return found == std::end(kEquivalents) ? nullptr : found;
}

}  // namespace memoir
