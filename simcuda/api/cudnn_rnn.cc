// cuDNN's recurrent networks: the places of the weights of each layer and gate, and the space that a pass needs.
//
// cuDNN documents neither the places nor the sizes. The places here need not equal cuDNN's, because torch uses them
// only to copy weights. The reserve space equals, to the byte, the reserve space on an H100 in 126 networks
// (docs/tested/real_card.md). The work space depends on the kernels that cuDNN chooses; here its size is within 10 % of
// the real size in most networks.
#include <cudnn.h>

#include <algorithm>
#include <initializer_list>

#include "simcuda/api/exported.h"
#include "simcuda/process/handles.h"

using memoir::simcuda::In;

namespace {

struct Network {
  cudnnRNNMode_t cell;
  bool biases, has_dropout;
  std::size_t element;  // bytes
  int directions, input, hidden, projection, layers;

  int gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
  int output() const { return projection > 0 ? projection : hidden; }
  // The number of activations that are kept for each cell.
  int kept() const { return cell == CUDNN_LSTM ? 5 : cell == CUDNN_GRU ? 6 : 1; }
  // The matrices of a layer and direction; the last one projects the output, if there is a projection.
  int matrices() const { return 2 * gates() + (projection > 0 ? 1 : 0); }
  bool Projects(int which) const { return which == 2 * gates(); }
  int Height(int which) const { return Projects(which) ? projection : hidden; }
  // Width of the matrix `which` of a layer. The first gates() matrices multiply the layer's input, the next gates()
  // matrices multiply the layer's output of the previous time step.
  int Width(int layer, int which) const {
    if (Projects(which)) return hidden;
    if (which >= gates()) return output();
    return layer < directions ? input : output() * directions;
  }
};

// The places of one matrix and its bias, in elements.
struct Place {
  std::size_t matrix = 0, bias = 0;
  int rows = 0, columns = 0;
};

// Finds the places of a matrix and its bias. All matrices come first, then all biases. Returns the number of elements
// of the network. Each direction of a layer counts as one `layer`.
std::size_t Locate(const Network& network, int layer, int which, Place* place) {
  std::size_t offset = 0;
  for (const bool biases : {false, true}) {
    for (int l = 0; l < network.layers * network.directions; ++l) {
      for (int w = 0; w < network.matrices(); ++w) {
        const bool wanted = place != nullptr && l == layer && w == which;
        if (wanted && !biases) *place = {offset, 0, network.Height(w), network.Width(l, w)};
        if (wanted && biases) place->bias = offset;
        const int bias_width = network.biases && !network.Projects(w) ? 1 : 0;
        const int width = biases ? bias_width : network.Width(l, w);
        offset += static_cast<std::size_t>(network.Height(w)) * static_cast<std::size_t>(width);
      }
    }
  }
  return offset;
}

struct Sequence {
  int batch, steps;
};

struct Dropout {
  float probability;
};

cudnnStatus_t Describe(cudnnTensorDescriptor_t descriptor, int rows, int columns) {
  if (descriptor == nullptr) return CUDNN_STATUS_SUCCESS;
  const int sizes[] = {1, rows, columns}, strides[] = {rows * columns, columns, 1};
  return cudnnSetTensorNdDescriptor(descriptor, CUDNN_DATA_FLOAT, rows == 0 ? 0 : 3, sizes, strides);
}

}  // namespace

SIMULATED cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t handle, cudnnHandle_t, float probability,
                                                  void*, std::size_t, unsigned long long) {
  In<Dropout>(handle).probability = probability;
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t handle, cudnnHandle_t, float probability,
                                                      void*, std::size_t, unsigned long long) {
  In<Dropout>(handle).probability = probability;
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t handle, cudnnRNNAlgo_t, cudnnRNNMode_t cell,
                                                 cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
                                                 cudnnRNNInputMode_t, cudnnDataType_t type, cudnnDataType_t,
                                                 cudnnMathType_t, int32_t input, int32_t hidden, int32_t projection,
                                                 int32_t layers, cudnnDropoutDescriptor_t dropout, uint32_t) {
  const bool half = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  In<Network>(handle) = {.cell = cell,
                         .biases = bias != CUDNN_RNN_NO_BIAS,
                         .has_dropout = dropout != nullptr && In<Dropout>(dropout).probability > 0,
                         .element = half                        ? 2u
                                    : type == CUDNN_DATA_DOUBLE ? 8u
                                                                : 4u,
                         .directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1,
                         .input = input,
                         .hidden = hidden,
                         .projection = projection == hidden ? 0 : projection,
                         .layers = layers};
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t handle, std::size_t* bytes) {
  const auto& network = In<Network>(handle);
  *bytes = Locate(network, -1, -1, nullptr) * network.element;
  return CUDNN_STATUS_SUCCESS;
}

// torch passes null for the part (matrix or bias) that it does not need.
SIMULATED cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t handle, int32_t layer, std::size_t,
                                                const void* weights, int32_t which,
                                                cudnnTensorDescriptor_t matrix_shape, void** matrix,
                                                cudnnTensorDescriptor_t bias_shape, void** bias) {
  const auto& network = In<Network>(handle);
  const bool exists = which < network.matrices(), has_bias = exists && network.biases && !network.Projects(which);
  Place place;
  Locate(network, layer, which, &place);
  char* const base = static_cast<char*>(const_cast<void*>(weights));
  if (matrix != nullptr) *matrix = exists ? base + place.matrix * network.element : nullptr;
  if (bias != nullptr) *bias = has_bias ? base + place.bias * network.element : nullptr;
  Describe(matrix_shape, exists ? place.rows : 0, place.columns);
  return Describe(bias_shape, has_bias ? place.rows : 0, 1);
}

SIMULATED cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t handle, cudnnDataType_t,
                                                  cudnnRNNDataLayout_t, int steps, int batch, int, const int[], void*) {
  In<Sequence>(handle) = {batch, steps};
  return CUDNN_STATUS_SUCCESS;
}

// Measured values, in bytes.
constexpr std::size_t kWorkOfLayer = 8 << 20, kReserveEnd = 256, kDropoutStep = 32;

SIMULATED cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t handle, cudnnForwardMode_t mode,
                                                  cudnnRNNDataDescriptor_t data, std::size_t* work,
                                                  std::size_t* reserve) {
  const auto& network = In<Network>(handle);
  const auto& sequence = In<Sequence>(data);
  const auto count = [](int number) { return static_cast<std::size_t>(std::max(number, 0)); };
  const std::size_t layers = count(network.layers), directions = count(network.directions),
                    hidden = count(network.hidden);
  const std::size_t between = layers > 0 ? layers - 1 : 0;
  const std::size_t cells = count(sequence.steps) * count(sequence.batch), outputs = cells * hidden * directions;
  const std::size_t widest = layers > 1 ? std::max(count(network.input), hidden * directions) : count(network.input);
  *work = layers * directions * kWorkOfLayer + Locate(network, -1, -1, nullptr) * network.element +
          cells * (count(network.gates() + 1) * hidden * directions + widest) * network.element;
  if (reserve == nullptr) return CUDNN_STATUS_SUCCESS;
  const std::size_t kept = outputs * (count(network.kept()) * layers + between) * network.element;
  const std::size_t bits = (outputs / 8 + kDropoutStep - 1) / kDropoutStep * kDropoutStep * directions * between;
  *reserve = mode == CUDNN_FWD_MODE_TRAINING ? kept + (network.has_dropout ? bits : 0) + kReserveEnd : 0;
  return CUDNN_STATUS_SUCCESS;
}
