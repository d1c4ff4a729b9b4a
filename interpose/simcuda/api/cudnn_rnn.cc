// cuDNN's recurrent networks: where the weights of each layer and gate lie, and how much space a pass wants.
//
// cuDNN does not publish either. The layout here is consistent with itself (torch only copies by it), the sizes of the
// work and reserve space are estimates from the activations.
#include <cudnn.h>

#include <initializer_list>

#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/handles.h"

using memoir::simcuda::In;

namespace {

constexpr std::size_t kElement = 4;  // bytes; also for half precision, so an upper estimate there

struct Network {
  cudnnRNNMode_t cell;
  bool biases;
  int directions, input, hidden, projection, layers;

  int gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
  int output() const { return projection > 0 ? projection : hidden; }
  // Width of the matrix `which` of a layer: the first half reads the layer's input, the other its own last output.
  int Width(int layer, int which) const {
    if (which >= gates()) return output();
    return layer < directions ? input : output() * directions;
  }
};

// Where one matrix and its bias lie, in elements.
struct Place {
  std::size_t matrix = 0, bias = 0;
  int rows = 0, columns = 0;
};

// All matrices, then all biases; returns how many elements there are. `layer` counts directions singly.
std::size_t Locate(const Network& network, int layer, int which, Place* place) {
  std::size_t offset = 0;
  for (const bool biases : {false, true}) {
    for (int l = 0; l < network.layers * network.directions; ++l) {
      for (int w = 0; w < 2 * network.gates(); ++w) {
        const bool wanted = place != nullptr && l == layer && w == which;
        if (wanted && !biases) *place = {offset, 0, network.hidden, network.Width(l, w)};
        if (wanted && biases) place->bias = offset;
        const int width = biases ? (network.biases ? 1 : 0) : network.Width(l, w);
        offset += static_cast<std::size_t>(network.hidden) * static_cast<std::size_t>(width);
      }
    }
  }
  return offset;
}

struct Sequence {
  int batch, steps;
};

cudnnStatus_t Describe(cudnnTensorDescriptor_t descriptor, int rows, int columns) {
  if (descriptor == nullptr) return CUDNN_STATUS_SUCCESS;
  const int sizes[] = {1, rows, columns}, strides[] = {rows * columns, columns, 1};
  return cudnnSetTensorNdDescriptor(descriptor, CUDNN_DATA_FLOAT, rows == 0 ? 0 : 3, sizes, strides);
}

}  // namespace

SIMULATED cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t handle, cudnnRNNAlgo_t, cudnnRNNMode_t cell,
                                                 cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
                                                 cudnnRNNInputMode_t, cudnnDataType_t, cudnnDataType_t, cudnnMathType_t,
                                                 int32_t input, int32_t hidden, int32_t projection, int32_t layers,
                                                 cudnnDropoutDescriptor_t, uint32_t) {
  const int projected = projection == hidden ? 0 : projection;
  In<Network>(handle) = {
      cell, bias != CUDNN_RNN_NO_BIAS, direction == CUDNN_BIDIRECTIONAL ? 2 : 1, input, hidden, projected, layers};
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t handle, std::size_t* bytes) {
  *bytes = Locate(In<Network>(handle), -1, -1, nullptr) * kElement;
  return CUDNN_STATUS_SUCCESS;
}

// torch passes null for the half (matrix or bias) that it does not want.
SIMULATED cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t handle, int32_t layer, std::size_t,
                                                const void* weights, int32_t which,
                                                cudnnTensorDescriptor_t matrix_shape, void** matrix,
                                                cudnnTensorDescriptor_t bias_shape, void** bias) {
  const auto& network = In<Network>(handle);
  const bool exists = which < 2 * network.gates();
  Place place;
  Locate(network, layer, which, &place);
  char* const base = static_cast<char*>(const_cast<void*>(weights));
  if (matrix != nullptr) *matrix = exists ? base + place.matrix * kElement : nullptr;
  if (bias != nullptr) *bias = exists && network.biases ? base + place.bias * kElement : nullptr;
  Describe(matrix_shape, exists ? place.rows : 0, place.columns);
  return Describe(bias_shape, exists && network.biases ? place.rows : 0, 1);
}

SIMULATED cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t handle, cudnnDataType_t,
                                                  cudnnRNNDataLayout_t, int steps, int batch, int, const int[], void*) {
  In<Sequence>(handle) = {batch, steps};
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t handle, cudnnForwardMode_t mode,
                                                  cudnnRNNDataDescriptor_t data, std::size_t* work,
                                                  std::size_t* reserve) {
  const auto& network = In<Network>(handle);
  const auto& sequence = In<Sequence>(data);
  const auto times = [](std::size_t a, int b) { return a * static_cast<std::size_t>(b); };
  const std::size_t cells = times(times(times(times(kElement, sequence.steps), sequence.batch), network.hidden),
                                  network.layers * network.directions);
  *work = times(cells, network.gates());
  if (reserve != nullptr) *reserve = mode == CUDNN_FWD_MODE_TRAINING ? times(cells, network.gates() + 1) : 0;
  return CUDNN_STATUS_SUCCESS;
}
