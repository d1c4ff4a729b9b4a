// Counts the replays of this process and the chunks that they decoded, for tests and benchmarks.
#ifndef TOOLS_MODEL_PARTS_REPLAY_WORK_H_
#define TOOLS_MODEL_PARTS_REPLAY_WORK_H_

#include <atomic>
#include <cstdint>

namespace memoir {

struct ReplayWork {
  std::atomic<std::uint64_t> replays = 0;
  std::atomic<std::uint64_t> decoded_chunks = 0;  // without chunks that an earlier replay has decoded and kept
};

inline ReplayWork& TotalReplayWork() {
  static constinit ReplayWork work;
  return work;
}

}  // namespace memoir

#endif  // TOOLS_MODEL_PARTS_REPLAY_WORK_H_
