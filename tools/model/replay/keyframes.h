// Restores the state of a replay from a keyframe: at the start if earlier parts are missing, after evicted parts, and
// after a loss. Compares other keyframes with the replay.
#ifndef TOOLS_MODEL_REPLAY_KEYFRAMES_H_
#define TOOLS_MODEL_REPLAY_KEYFRAMES_H_

#include <optional>

#include "tools/model/replay/replay_handlers.h"

namespace memoir {

class Keyframes {
 public:
  explicit Keyframes(ReplayHandlers& handlers) : handlers_(handlers), context_(handlers.shared.context) {}

  void BeginProcess();
  // Call this function for each chunk of the process, after the chunk's keyframe if it has one.
  void NoteChunk() { began_ = true; }
  // Call this function where chunks are missing. The next keyframe is then applied.
  void NoteLoss() { awaited_ = true; }
  bool awaited() const { return awaited_; }
  // Call this function where parts were evicted. The keyframe of the next part is then applied.
  void PassEvicted();

  // Returns true if the keyframe of this chunk is to be applied, false if it is only compared.
  bool IsApplied(const Chunk& chunk) const { return awaited_ || (!began_ && chunk.header.sequence != 0); }
  // Parses the keyframe of a chunk: all of it if `is_applied`, otherwise only the totals of devices. If the keyframe is
  // damaged, reports the damage and returns nullopt.
  std::optional<v1::Keyframe> Parse(const Chunk& chunk, bool is_applied) const;
  // Sets the state of the replay to the state in the keyframe. Call this function after all events before the keyframe
  // have been visited.
  void Apply(const v1::Keyframe& keyframe);
  // Counts a mismatch (ReplayReport::keyframe_mismatches) if the keyframe's totals of a device differ from the
  // replay's.
  void Compare(const v1::Keyframe& keyframe) const;

 private:
  void Visit(const v1::Keyframe& keyframe);
  void NoteEvicted(const v1::Keyframe& keyframe);
  void NoteEvictedPeaks(const v1::Keyframe& keyframe);

  ReplayHandlers& handlers_;
  ReplayContext& context_;
  bool began_ = false;          // a chunk of this process was taken
  bool awaited_ = false;        // chunks were lost or evicted: the next keyframe is applied
  bool after_evicted_ = false;  // parts were evicted, and no keyframe was applied since
  Tick evicted_from_ = 0;       // begin of the gap of evicted parts: tick of the last event before it
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_KEYFRAMES_H_
