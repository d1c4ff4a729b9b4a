#include "simcuda/machine/stream_progress.h"

#include <algorithm>

namespace memoir::simcuda {
namespace {

void Join(std::map<StreamNumber, QueuePosition>& into, StreamNumber stream, QueuePosition position) {
  QueuePosition& known = into[stream];
  known = std::max(known, position);
}

}  // namespace

void StreamProgress::Queue(StreamNumber stream, std::uint64_t pieces) {
  if (!is_late()) return;
  const std::lock_guard lock(mutex_);
  streams_[stream].last = devices_[DeviceOf(stream)].queued += pieces;
}

StreamMark StreamProgress::Record(StreamNumber stream) const {
  StreamMark mark;
  mark.stream = stream;
  if (!is_late()) return mark;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return mark;
  mark.position = found->second.last;
  mark.others = found->second.others;
  return mark;
}

void StreamProgress::Wait(StreamNumber stream, const StreamMark& mark) {
  if (!is_late() || stream == mark.stream) return;
  const std::lock_guard lock(mutex_);
  Stream& waiting = streams_[stream];
  Join(waiting.others, mark.stream, mark.position);
  for (const auto& [other, position] : mark.others) Join(waiting.others, other, position);
}

bool StreamProgress::IsDone(StreamMark& mark) {
  if (!is_late()) return true;
  const std::lock_guard lock(mutex_);
  if (AreDoneLocked(mark.others) && IsDoneLocked(mark.stream, mark.position)) return true;
  if (!RunsOutOfPatience(mark.stream, mark.asked_at, mark.asked)) return false;
  // Completes this mark alone. A watchdog may poll the mark at times that differ between runs, and these times must not
  // decide when other work completes.
  mark.position = 0;
  mark.others.clear();
  return true;
}

bool StreamProgress::IsIdle(StreamNumber stream) {
  if (!is_late()) return true;
  const std::lock_guard lock(mutex_);
  Stream& asked = streams_[stream];
  if (AreDoneLocked(asked.others) && IsDoneLocked(stream, asked.last)) return true;
  if (!RunsOutOfPatience(stream, asked.asked_at, asked.asked)) return false;
  FinishLocked(stream, asked.last, asked.others);
  return true;
}

void StreamProgress::FinishMark(const StreamMark& mark) {
  if (!is_late()) return;
  const std::lock_guard lock(mutex_);
  FinishLocked(mark.stream, mark.position, mark.others);
}

void StreamProgress::FinishStream(StreamNumber stream) {
  if (!is_late()) return;
  const std::lock_guard lock(mutex_);
  const Stream& finished = streams_[stream];
  FinishLocked(stream, finished.last, finished.others);
}

void StreamProgress::FinishDevice(int device) {
  if (!is_late()) return;
  const std::lock_guard lock(mutex_);
  devices_[device].done = devices_[device].queued;
}

bool StreamProgress::IsDoneLocked(StreamNumber stream, QueuePosition position) const {
  const auto on = devices_.find(DeviceOf(stream));
  if (on == devices_.end() || position <= on->second.done || on->second.queued - position >= late_) return true;
  const auto found = streams_.find(stream);
  return found == streams_.end() || position <= found->second.done;
}

bool StreamProgress::AreDoneLocked(const std::map<StreamNumber, QueuePosition>& others) const {
  return std::ranges::all_of(others, [&](const auto& other) { return IsDoneLocked(other.first, other.second); });
}

bool StreamProgress::RunsOutOfPatience(StreamNumber stream, QueuePosition& asked_at, int& asked) const {
  // The stream's device is unknown if nothing was queued there. The stream may still wait for one of another device.
  const auto device = devices_.find(DeviceOf(stream));
  const QueuePosition queued = device == devices_.end() ? 0 : device->second.queued;
  if (asked_at != queued) asked = 0;
  asked_at = queued;
  return ++asked >= kPatience;
}

void StreamProgress::FinishLocked(StreamNumber stream, QueuePosition position,
                                  const std::map<StreamNumber, QueuePosition>& others) {
  const auto finish = [&](StreamNumber number, QueuePosition to) {
    Stream& finished = streams_[number];
    finished.done = std::max(finished.done, to);
  };
  finish(stream, position);
  for (const auto& [other, to] : others) finish(other, to);
}

}  // namespace memoir::simcuda
