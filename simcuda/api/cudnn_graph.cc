// cuDNN's graph interface: descriptors that are built from attributes, heuristics that return one engine configuration,
// and plans that report their workspace.
//
//   tensors ─► operation ─► graph ─► heuristics ─► configuration ─► plan
//                                └─► engine ─────► configuration ─► plan      (the second choice of callers)
//
// Only the workspace matters here (workspaces.txt). Each descriptor passes two sizes to the descriptors that are built
// from it: the workspace of the algorithm that cuDNN would prefer, and the workspace of an algorithm that needs almost
// nothing.
#include <cudnn.h>

#include <algorithm>
#include <span>

#include "simcuda/api/exported.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/handles.h"

using memoir::simcuda::In;
using memoir::simcuda::TheMachine;
using memoir::simcuda::Word;

namespace {

constexpr int kMostDimensions = 6;

// A tensor descriptor; attributes set its fields one after the other.
struct Tensor {
  int64_t sizes[kMostDimensions], strides[kMostDimensions];
  int dimensions;
  int type;
};

// The properties of a tensor that an operation needs. `converted`: bytes to convert to channels-last, for tensor cores;
// `taps`: elements in one slice of the first dimension; `pixels`: elements in one channel of such a slice.
struct Operand {
  std::uint64_t bytes, converted, taps, pixels;
};

struct Descriptor {
  Tensor tensor;
  Operand x, w, y;
  std::uint64_t element;
  std::uint64_t preferred, fallback;  // workspace, bytes
  bool single;                        // computes in single precision
  bool tensor_cores;                  // the preferred algorithm uses tensor cores in single precision
  bool asks_fallback;                 // heuristics: the caller requests the algorithms that always work
};
static_assert(sizeof(Descriptor) <= memoir::simcuda::kHandleBytes);

std::uint64_t ElementBytes(int type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
      return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
      return 1;
    default:
      return 4;
  }
}

// Whether this card's tensor cores accept the type: half precision from Volta on, bfloat16 and single precision (as
// TF32) from Ampere on.
bool HasTensorCores(int type) {
  const int capability = TheMachine().profile().compute_major;
  if (type == CUDNN_DATA_HALF) return capability >= 7;
  return (type == CUDNN_DATA_BFLOAT16 || type == CUDNN_DATA_FLOAT) && capability >= 8;
}

Operand Describe(const Tensor& tensor) {
  Operand operand{ElementBytes(tensor.type), 0, 1, 1};
  for (int i = 0; i < tensor.dimensions; ++i) {
    const auto size = static_cast<std::uint64_t>(std::max<int64_t>(tensor.sizes[i], 0));
    operand.bytes *= size;
    if (i >= 1) operand.taps *= size;
    if (i >= 2) operand.pixels *= size;
  }
  // The second dimension of a tensor is its number of channels; of a filter, the number of channels that the filter
  // reads.
  const bool ambiguous = tensor.dimensions < 3 || tensor.sizes[1] <= 1 || operand.pixels == 1;
  const bool channels_last = ambiguous || tensor.strides[1] == 1;
  if (!channels_last && HasTensorCores(tensor.type)) operand.converted = operand.bytes;
  return operand;
}

void SetOperand(Descriptor& operation, Operand Descriptor::* which, cudnnBackendDescriptor_t from,
                const char* formula) {
  const Tensor& tensor = In<Descriptor>(from).tensor;
  operation.*which = Describe(tensor);
  operation.element = ElementBytes(tensor.type);
  operation.single = tensor.type == CUDNN_DATA_FLOAT;
  const Operand &x = operation.x, &w = operation.w, &y = operation.y;
  // A filter of one pixel makes the convolution a matrix product, in any memory format.
  const bool is_product = w.pixels == 1 && x.pixels == y.pixels;
  const std::uint64_t converted = is_product ? 0 : x.converted + w.converted + y.converted;
  const auto bytes = [&](const char* name) {
    return TheMachine().workspaces().Bytes(name, {{Word::kX, x.bytes},
                                                  {Word::kW, w.bytes},
                                                  {Word::kY, y.bytes},
                                                  {Word::kConverted, converted},
                                                  {Word::kTaps, w.taps},
                                                  {Word::kElement, operation.element}});
  };
  operation.tensor_cores = converted > 0;
  operation.preferred = bytes(formula);
  operation.fallback = std::min(operation.preferred, bytes("cudnn.convolution_fallback"));
}

void Inherit(Descriptor& to, const Descriptor& from) {
  to.preferred = from.preferred;
  to.fallback = from.fallback;
  to.single = from.single;
  to.tensor_cores = from.tensor_cores;
}

// Inherits from an engine that the caller chose by number. Such an engine uses the fallback algorithm, not the
// preferred algorithm.
void InheritFallback(Descriptor& to, const Descriptor& from) {
  Inherit(to, from);
  to.preferred = from.fallback;
  to.tensor_cores = false;
}

// A graph's operations run one after the other in the same workspace. A graph without a convolution counts as
// attention, because torch makes no other graphs.
void Join(Descriptor& graph, std::span<const cudnnBackendDescriptor_t> operations) {
  const auto is_convolution = [](cudnnBackendDescriptor_t handle) { return In<Descriptor>(handle).w.bytes > 0; };
  const bool is_attention = !operations.empty() && std::ranges::none_of(operations, is_convolution);
  graph.preferred = graph.fallback = is_attention ? TheMachine().workspaces().Bytes("cudnn.attention", {}) : 0;
  for (const cudnnBackendDescriptor_t handle : operations) {
    const auto& operation = In<Descriptor>(handle);
    graph.preferred = std::max(graph.preferred, operation.preferred);
    graph.fallback = std::max(graph.fallback, operation.fallback);
    graph.single = graph.single || operation.single;
    graph.tensor_cores = graph.tensor_cores || operation.tensor_cores;
  }
}

void SetNumbers(int64_t (&to)[kMostDimensions], Tensor& tensor, std::span<const int64_t> from) {
  tensor.dimensions = static_cast<int>(std::min<std::size_t>(from.size(), kMostDimensions));
  std::copy_n(from.begin(), tensor.dimensions, to);
}

cudnnStatus_t SetCount(int64_t* count, int64_t value) {
  if (count != nullptr) *count = value;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t One(int64_t* count, void* values, int64_t value) {
  if (values != nullptr) *static_cast<int64_t*>(values) = value;
  return SetCount(count, 1);
}

}  // namespace

SIMULATED cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
                                                 cudnnBackendAttributeType_t, int64_t count, const void* values) {
  if (handle == nullptr || values == nullptr || count <= 0) return CUDNN_STATUS_SUCCESS;
  auto& descriptor = In<Descriptor>(handle);
  const auto* const numbers = static_cast<const int64_t*>(values);
  const auto* const others = static_cast<const cudnnBackendDescriptor_t*>(values);
  const auto whole = static_cast<std::size_t>(count);
  switch (name) {
    case CUDNN_ATTR_TENSOR_DATA_TYPE:
      descriptor.tensor.type = *static_cast<const int*>(values);
      break;
    case CUDNN_ATTR_TENSOR_DIMENSIONS:
      SetNumbers(descriptor.tensor.sizes, descriptor.tensor, {numbers, whole});
      break;
    case CUDNN_ATTR_TENSOR_STRIDES:
      SetNumbers(descriptor.tensor.strides, descriptor.tensor, {numbers, whole});
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X:
      SetOperand(descriptor, &Descriptor::x, *others, "cudnn.convolution_forward");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W:
      SetOperand(descriptor, &Descriptor::w, *others, "cudnn.convolution_forward");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y:
      SetOperand(descriptor, &Descriptor::y, *others, "cudnn.convolution_forward");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX:
      SetOperand(descriptor, &Descriptor::x, *others, "cudnn.convolution_backward_data");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W:
      SetOperand(descriptor, &Descriptor::w, *others, "cudnn.convolution_backward_data");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY:
      SetOperand(descriptor, &Descriptor::y, *others, "cudnn.convolution_backward_data");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X:
      SetOperand(descriptor, &Descriptor::x, *others, "cudnn.convolution_backward_filter");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW:
      SetOperand(descriptor, &Descriptor::w, *others, "cudnn.convolution_backward_filter");
      break;
    case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY:
      SetOperand(descriptor, &Descriptor::y, *others, "cudnn.convolution_backward_filter");
      break;
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
      Join(descriptor, {others, whole});
      break;
    case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
      InheritFallback(descriptor, In<Descriptor>(*others));
      break;
    case CUDNN_ATTR_ENGINEHEUR_MODE:
      descriptor.asks_fallback = *static_cast<const cudnnBackendHeurMode_t*>(values) == CUDNN_HEUR_MODE_FALLBACK;
      break;
    case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
    case CUDNN_ATTR_ENGINECFG_ENGINE:
    case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
      Inherit(descriptor, In<Descriptor>(*others));
      break;
    default:
      break;
  }
  return CUDNN_STATUS_SUCCESS;
}

// Engine configurations report a workspace, as plans do, because cudnn_frontend reads the workspace from
// configurations. If `count` is 0, cudnn_frontend finds no plan.
SIMULATED cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const handle,
                                                 cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                                 int64_t wanted, int64_t* count, void* values) {
  const auto& descriptor = In<Descriptor>(handle);
  auto* const others = static_cast<cudnnBackendDescriptor_t*>(values);
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:  // fills descriptors that the caller created
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      if (others != nullptr && wanted > 0)
        (descriptor.asks_fallback ? InheritFallback : Inherit)(In<Descriptor>(others[0]), descriptor);
      return SetCount(count, 1);
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return One(count, wanted > 0 ? values : nullptr, static_cast<int64_t>(descriptor.preferred));
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return One(count, values, 1);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      // torch uses this to detect an algorithm that computes single precision as TF32.
      if (!descriptor.single || !descriptor.tensor_cores) return SetCount(count, 0);
      if (values != nullptr && wanted > 0)
        *static_cast<cudnnBackendNumericalNote_t*>(values) = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
      return SetCount(count, 1);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
    case CUDNN_ATTR_ENGINE_KNOB_INFO:
      return SetCount(count, 0);
    default:
      break;
  }
  const bool one = values != nullptr && wanted > 0 && (type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_INT32);
  if (one && type == CUDNN_TYPE_INT64) *static_cast<int64_t*>(values) = 0;
  if (one && type == CUDNN_TYPE_INT32) *static_cast<int32_t*>(values) = 0;
  return SetCount(count, one ? 1 : 0);
}
