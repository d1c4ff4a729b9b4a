// How far the devices have come with what was queued. Kernels take no time, so all of it could be done at once. On a
// busy GPU the program is ahead: with `late` N, a piece of work counts as done when N pieces were queued after it on
// its device, when somebody waited for it, or when nothing more comes.
//
//   stream A ── work ── Record: a mark ─ ─ ─ ─ ┐
//   stream B ──────────────────────── Wait(B, mark) ── work ── FinishStream(B): the mark and all before it are done
//
// Nothing here is measured in time, so that a program that asks the same gets the same answers in each run: "nothing
// more comes" is said to whoever asks about one mark kPatience times while nothing is queued, and of that mark alone.
//
// Any thread; one lock. Nothing is kept where `late` is 0.
#ifndef INTERPOSE_SIMCUDA_PROGRESS_H_
#define INTERPOSE_SIMCUDA_PROGRESS_H_

#include <cstdint>
#include <map>

#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {

using StreamNumber = std::uint64_t;  // one for each stream of all devices
constexpr StreamNumber NumberOf(int device, std::uint64_t id) {
  return (static_cast<std::uint64_t>(device) << 48) | id;
}
constexpr int DeviceOf(StreamNumber stream) { return static_cast<int>(stream >> 48); }

using Position = std::uint64_t;  // how many pieces were queued on a device before

// A place in a stream, with what lies before it on others.
struct Mark {
  StreamNumber stream = 0;
  Position position = 0;
  std::map<StreamNumber, Position> others;
  Position asked_at = 0;  // since when nothing was queued
  int asked = 0;
};

class Progress {
 public:
  static constexpr int kPatience = 16;

  explicit Progress(std::uint64_t late) : late_(late) {}

  bool is_late() const { return late_ > 0; }

  void Queue(StreamNumber stream, std::uint64_t pieces = 1);
  Mark Record(StreamNumber stream) const;
  // What comes on `stream` comes after the mark.
  void Wait(StreamNumber stream, const Mark& mark);

  // Counts as asking.
  bool IsDone(Mark& mark);
  bool IsIdle(StreamNumber stream);

  void FinishMark(const Mark& mark);
  void FinishStream(StreamNumber stream);
  void FinishDevice(int device);

 private:
  struct Stream {
    Position last = 0, done = 0;
    std::map<StreamNumber, Position> others;
    Position asked_at = 0;
    int asked = 0;
  };
  struct Device {
    Position queued = 0, done = 0;
  };

  bool IsDoneLocked(StreamNumber stream, Position position) const;
  bool RunsOutOfPatience(StreamNumber stream, Position& asked_at, int& asked) const;
  void FinishLocked(StreamNumber stream, Position position, const std::map<StreamNumber, Position>& others);

  const std::uint64_t late_;
  mutable Mutex mutex_;
  std::map<int, Device> devices_;
  std::map<StreamNumber, Stream> streams_;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_PROGRESS_H_
