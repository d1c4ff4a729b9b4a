// Decides which queued work of a device is complete. Kernels take no time here, so all work could complete at once. But
// a program runs ahead of a real, busy GPU. With `late` N, a piece of work is complete when N pieces were queued after
// it on its device, when the program has waited for it, or when no more work is queued.
//
//   stream A ── work ── Record: a mark ─ ─ ─ ─ ┐
//   stream B ──────────────────────── Wait(B, mark) ── work ── FinishStream(B): the mark and all before it are done
//
// Nothing depends on time, so a program that makes the same queries gets the same answers in each run. "No more work is
// queued" means that a mark (the position of an event in its stream) or a stream was queried kPatience times while
// nothing was queued on its device. The last of these queries completes this mark alone, or all work of this stream.
//
// Any thread; one lock. Nothing is stored if `late` is 0.
#ifndef SIMCUDA_MACHINE_STREAM_PROGRESS_H_
#define SIMCUDA_MACHINE_STREAM_PROGRESS_H_

#include <cstdint>
#include <map>

#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

using StreamNumber = std::uint64_t;  // identifies a stream among all devices
constexpr StreamNumber NumberOf(int device, std::uint64_t id) {
  return (static_cast<std::uint64_t>(device) << 48) | id;
}
constexpr int DeviceOf(StreamNumber stream) { return static_cast<int>(stream >> 48); }

using QueuePosition = std::uint64_t;  // pieces queued on the device before this one

// A position in a stream, and the positions in other streams that precede it.
struct StreamMark {
  StreamNumber stream = 0;
  QueuePosition position = 0;
  std::map<StreamNumber, QueuePosition> others;
  QueuePosition asked_at = 0;  // pieces queued on the device at the last query
  int asked = 0;               // number of queries since the last piece was queued
};

class StreamProgress {
 public:
  static constexpr int kPatience = 16;

  explicit StreamProgress(std::uint64_t late) : late_(late) {}

  bool is_late() const { return late_ > 0; }

  void Queue(StreamNumber stream, std::uint64_t pieces = 1);
  StreamMark Record(StreamNumber stream) const;
  // Orders later work on `stream` after the mark.
  void Wait(StreamNumber stream, const StreamMark& mark);

  // Queries; each call counts towards kPatience.
  bool IsDone(StreamMark& mark);
  bool IsIdle(StreamNumber stream);

  void FinishMark(const StreamMark& mark);
  void FinishStream(StreamNumber stream);
  void FinishDevice(int device);

 private:
  struct Stream {
    QueuePosition last = 0, done = 0;
    std::map<StreamNumber, QueuePosition> others;
    QueuePosition asked_at = 0;
    int asked = 0;
  };
  struct Device {
    QueuePosition queued = 0, done = 0;
  };

  bool IsDoneLocked(StreamNumber stream, QueuePosition position) const;
  bool AreDoneLocked(const std::map<StreamNumber, QueuePosition>& others) const;
  bool RunsOutOfPatience(StreamNumber stream, QueuePosition& asked_at, int& asked) const;
  void FinishLocked(StreamNumber stream, QueuePosition position, const std::map<StreamNumber, QueuePosition>& others);

  const std::uint64_t late_;
  mutable Mutex mutex_;
  std::map<int, Device> devices_;
  std::map<StreamNumber, Stream> streams_;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_STREAM_PROGRESS_H_
