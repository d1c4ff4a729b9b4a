#include "simcuda/kernels/uncomputed_launches.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "simcuda/machine/machine.h"
#include "simcuda/streams/graph_capture.h"

namespace memoir::simcuda {
namespace {

std::atomic<bool> values_are_computed{false};
thread_local int operators_begun = 0;

bool MayIgnoreLaunch() { return operators_begun > 0 || !values_are_computed.load(std::memory_order_relaxed); }

// Makes the range unknown. If the stream is being captured, each replay makes it unknown again.
void Void(ByteRange range, Stream& stream) {
  NoteWrite(stream, range);
  TheMachine().contents().MarkUnknown(range.address, range.bytes);
}

void VoidEverything(Stream& stream) {
  for (const ByteRange region : TheMachine().contents().Regions()) Void(region, stream);
}

void VoidBlockAt(std::uint64_t address, Stream& stream) {
  Device* const device = TheMachine().DeviceOf(reinterpret_cast<const void*>(address));
  if (device == nullptr) return;
  const std::optional<DeviceBlock> block = device->BlockAt(address);
  if (!block.has_value()) return;
  Void(TheMachine().allocator_blocks().FindAround(address, {block->address, block->bytes}), stream);
}

// Treats each aligned word of the parameter as a possible address.
void VoidAddressesIn(const void* parameter, std::size_t bytes, Stream& stream) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at + sizeof word <= bytes; at += sizeof word) {
    std::memcpy(&word, static_cast<const char*>(parameter) + at, sizeof word);
    VoidBlockAt(word, stream);
  }
}

}  // namespace

std::uint64_t BeginOperator() {
  values_are_computed.store(true, std::memory_order_relaxed);
  ++operators_begun;
  return std::exchange(work_in_operator, 0);
}

bool EndOperator(std::uint64_t begun) {
  --operators_begun;
  return std::exchange(work_in_operator, begun) > 0;
}

void MarkWrittenByUnknown(const Kernel& kernel, void* const* parameters, Stream& stream) {
  ++work_in_operator;
  if (MayIgnoreLaunch()) return;
  const auto known = kernel.parameters.has_value() ? kernel.parameters : ParametersOfName(kernel.name);
  if (!known.has_value() || (parameters == nullptr && !known->empty())) {
    VoidEverything(stream);
    return;
  }
  for (std::size_t i = 0; i < known->size(); ++i) VoidAddressesIn(parameters[i], (*known)[i], stream);
}

void MarkWrittenByUnknown(const void* buffer, std::size_t bytes, Stream& stream) {
  ++work_in_operator;
  if (!MayIgnoreLaunch()) VoidAddressesIn(buffer, bytes, stream);
}

void MarkWrittenAsUnknown(std::uint64_t address, std::uint64_t bytes) {
  NoteWriteOfAny({address, bytes});
  TheMachine().contents().MarkUnknown(address, bytes);
}

}  // namespace memoir::simcuda
