// Operators as a training step has them, for sizes and speeds: each takes two tensors, allocates, returns one and later
// frees it; names, shapes and addresses repeat from step to step.
#ifndef TESTS_WRITER_STEP_STREAM_H_
#define TESTS_WRITER_STEP_STREAM_H_

#include <cstdint>
#include <random>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tests/writer/event_model.h"

namespace memoir::test {

// The events of a thread that stops.
inline constexpr std::uint64_t kQuietSteps = 10;

// The Python stack that a thread has at a step: another one every eleven.
inline std::vector<FrameSeen> StackAt(std::uint64_t step) {
  const auto line = static_cast<std::uint32_t>(step / 11 + 1);
  return {{"train.py", "main", line / 9 + 1}, {"model.py", "forward", line}, {"linear.py", "forward", 125}};
}

class StepStream {
 public:
  // Begin with 2 tensors, allocate, end with 1 tensor, deallocate: 4 events, 7 ring records.
  std::vector<Event> NextOperator() {
    const std::uint64_t at = number_ % kOperators;
    const TensorSeen output = Output(at);
    std::vector<Event> events(4);
    Event& begin = events[0];
    begin.kind = memoir::v1::RANGE_BEGIN_FUNCTION;
    begin.name = "aten::op" + std::to_string(at % 60);
    begin.schema = "op(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
    begin.written = {false, false, false};
    begin.sequence = static_cast<std::int64_t>(number_);
    begin.kinds = at % 3 == 0 ? "TTi" : "TTdb";
    begin.tensors = {Output((at + kOperators - 1) % kOperators), Parameter(at)};
    Event& allocate = events[1];
    allocate.kind = memoir::v1::ALLOCATE;
    allocate.address = output.storage;
    allocate.bytes = output.storage_bytes;
    allocate.serial = ++serial_;
    Event& end = events[2];
    end.kind = memoir::v1::RANGE_END;
    end.kinds = "T";
    end.tensors = {output};
    Event& deallocate = events[3];
    deallocate.kind = memoir::v1::DEALLOCATE;
    deallocate.address = output.storage;
    deallocate.serial = ++serial_;
    for (Event& event : events) event.tick = tick_ += 400 + random_() % 3000;
    ++number_;
    return events;
  }

 private:
  static constexpr std::uint64_t kOperators = 400;  // per step

  // torch reuses a freed TensorImpl's and a cached block's address for the like of it: a few addresses per place in the
  // step.
  TensorSeen Output(std::uint64_t at) {
    TensorSeen tensor = Tensor(at, 0x7f3a00000000);
    tensor.impl += (number_ / kOperators % 3) * 0x140;
    tensor.storage += (number_ / kOperators % 2) * 0x100000;
    return tensor;
  }
  TensorSeen Parameter(std::uint64_t at) { return Tensor(at, 0x7f3b00000000); }
  static TensorSeen Tensor(std::uint64_t at, std::uint64_t base) {
    TensorSeen tensor;
    const std::int64_t width = 64 << (at % 5);
    tensor.impl = 0x55d0c0000000 + at * 0x1c0;
    tensor.storage = base + at * 0x240000;
    tensor.storage_bytes = static_cast<std::uint64_t>(width) * 128 * 4;
    tensor.dtype = 6;
    tensor.sizes = {8, 16, width};
    return tensor;
  }

  std::uint64_t number_ = 0;
  std::uint64_t serial_ = 0;
  std::uint64_t tick_ = 1'000'000'000;
  std::mt19937_64 random_{1};
};

}  // namespace memoir::test

#endif  // TESTS_WRITER_STEP_STREAM_H_
