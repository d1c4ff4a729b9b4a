// Writes Events into the ring as hooks do, one record after the other, from the calling thread.
#ifndef TESTS_WRITER_RING_PRODUCER_H_
#define TESTS_WRITER_RING_PRODUCER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interpose/records/ring_record.h"
#include "tests/writer/event_model.h"

namespace memoir::test {

class RingProducer {
 public:
  explicit RingProducer(bool inline_operators = false) : inline_operators_(inline_operators) {}

  // Records the event; kinds of ranges follow `event.kind`. Returns whether all its records found room.
  bool Record(const Event& event);
  std::uint64_t records() const { return records_; }
  std::uint16_t depth() const { return depth_; }
  static std::uint32_t Thread();  // number of the calling thread in the ring

 private:
  bool RecordBegin(const Event& event);
  bool RecordEnd(const Event& event);
  bool RecordHolds(const Event& event);
  bool RecordStack(const Event& event);
  bool RecordCall(const Event& event);
  bool RecordDriver(const Event& event);
  bool RecordDeviceCall(const Event& event);
  template <class Struct>
  bool RecordValues(const Event& event, Struct record, RecordKind kind, std::size_t flags,
                    const std::string& behind = "");
  bool RecordTensors(const Event& event);
  bool RecordTensor(const std::optional<TensorSeen>& tensor);
  std::uint32_t OperatorId(const Event& event);
  std::uint32_t ModuleId(const Event& event);
  std::uint8_t* Reserve(std::size_t bytes);
  void Commit(std::size_t bytes);

  bool inline_operators_;
  std::uint16_t depth_ = 0;
  std::uint64_t records_ = 0;
  std::map<std::string, std::uint32_t> operators_;
  std::map<std::string, std::uint32_t> modules_;
  std::map<std::string, std::uint32_t> codes_;
  std::map<std::string, std::uint32_t> kernels_;
  std::vector<FrameSeen> stack_;  // that was recorded last
};

}  // namespace memoir::test

#endif  // TESTS_WRITER_RING_PRODUCER_H_
