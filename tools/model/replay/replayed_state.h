// Implements the queries that a visitor may make during a replay (ReplayState in capture.h), with the state of the
// handlers.
#ifndef TOOLS_MODEL_REPLAY_REPLAYED_STATE_H_
#define TOOLS_MODEL_REPLAY_REPLAYED_STATE_H_

#include <cstdint>
#include <functional>

#include "tools/model/capture.h"
#include "tools/model/replay/replay_handlers.h"

namespace memoir {

class ReplayedState final : public ReplayState {
 public:
  explicit ReplayedState(const ReplayHandlers& handlers) : handlers_(handlers), shared_(handlers.shared) {}

  const Dictionary& dictionary() const override { return shared_.context.dictionary(); }
  std::uint64_t Nanoseconds(ProcessId process, Tick tick) const override {
    return shared_.context.Nanoseconds(process, tick);
  }
  void ForEachLiveBlock(const std::function<void(const Block&)>& function) const override {
    shared_.blocks.set().ForEach(function);
  }
  std::uint64_t live_bytes(DeviceId device) const override { return shared_.blocks.set().bytes(device); }
  const Block* LiveBlockAt(DeviceId device, std::uint64_t address) const override {
    return shared_.blocks.Find(device, address);
  }
  ThreadId working_thread(ThreadId thread) const override {
    const ThreadReplay* known = shared_.threads.Find(thread);
    return known == nullptr ? thread : shared_.threads.Working(*known).id();
  }
  const RangeStack& stack(ThreadId thread) const override {
    static const RangeStack empty;
    const ThreadReplay* known = shared_.threads.Find(thread);
    return known == nullptr ? empty : shared_.threads.Working(*known).stack();
  }
  const DeviceMemory& memory(DeviceId device) const override { return shared_.memories.Find(device); }
  const DriverMemory& driver() const override { return handlers_.driver.memory(); }

 private:
  const ReplayHandlers& handlers_;
  const SharedReplayState& shared_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_REPLAYED_STATE_H_
