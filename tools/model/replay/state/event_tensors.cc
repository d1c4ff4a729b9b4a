#include "tools/model/replay/state/event_tensors.h"

namespace memoir {

Tensor EventTensors::TensorOf(const TensorRow& row) const {
  return {row.impl,
          row.storage,
          row.storage_bytes,
          context_.ids().layout(row.layout),
          context_.ids().device(row.device),
          (row.traits & 1u) != 0,
          (row.traits & 2u) != 0};
}

void EventTensors::DecodeRows(RunCursor& cursor, std::uint32_t count) {
  rows_.clear();
  if (!context_.options().tensors) {
    const std::vector<std::uint8_t>& known = cursor.chunk->tensor_is_known;
    for (; count > 0; --count) {
      const std::uint32_t reference = cursor.run.tensor.Next32();
      if (reference != 0 && reference <= known.size() && known[reference - 1] == 0) rows_.push_back(reference);
    }
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) rows_.push_back(cursor.run.tensor.Next32());
  tensors_.clear();
  const std::vector<TensorRow>& table = cursor.chunk->payload->tensors;
  for (const std::uint32_t reference : rows_) {
    Tensor& tensor = tensors_.emplace_back();
    if (reference == 0 || reference > table.size()) continue;
    tensor = TensorOf(table[reference - 1]);
  }
}

void EventTensors::ShowFirstSeenOfRows(const ThreadReplay& thread, const RunCursor& cursor, bool as_result) {
  std::vector<std::uint8_t>& known = cursor.chunk->tensor_is_known;
  for (const std::uint32_t reference : rows_) {
    // One check for each row of the table is enough: a storage stays at its address while a tensor uses it.
    if (reference == 0 || reference > known.size() || known[reference - 1] != 0) continue;
    known[reference - 1] = 1;
    const TensorRow& row = cursor.chunk->payload->tensors[reference - 1];
    const Tensor tensor = TensorOf(row);
    if (!blocks_.IsFirstSeen(tensor)) continue;
    auto event = context_.MakeEvent<FirstSeenEvent>(thread.id(), cursor.tick);
    event.tensor = &tensor;
    event.range = thread.innermost();
    event.as_result = as_result;
    context_.visitor().OnFirstSeen(event);
  }
}

}  // namespace memoir
