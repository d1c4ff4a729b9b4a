// Decodes the block of an event. The columns of the event contain its device, address, serial, stream and pool. The
// state of the event's thread determines its context: the surrounding ranges, the module and the Python stacks.
#ifndef TOOLS_MODEL_REPLAY_STATE_BLOCK_DECODER_H_
#define TOOLS_MODEL_REPLAY_STATE_BLOCK_DECODER_H_

#include "tools/model/replay/state/module_contexts.h"
#include "tools/model/replay/state/replay_context.h"
#include "tools/model/replay/state/replay_threads.h"
#include "tools/model/replay/state/surrounding_ranges.h"

namespace memoir {

class BlockDecoder {
 public:
  BlockDecoder(ReplayContext& context, const ReplayThreads& threads, const SurroundingRanges& surrounding,
               const ModuleContexts& modules)
      : context_(context), threads_(threads), surrounding_(surrounding), modules_(modules) {}

  // Returns the block of the current event, with device, address, serial and the context of its thread.
  Block Decode(const ThreadReplay& thread, RunCursor& cursor) const;
  // Returns a block with the context of its thread, without address and serial.
  Block BlockOn(const ThreadReplay& thread, DeviceId device, Tick tick) const;
  static void DecodeStreamAndPool(RunCursor& cursor, Block& block);

 private:
  ReplayContext& context_;
  const ReplayThreads& threads_;
  const SurroundingRanges& surrounding_;
  const ModuleContexts& modules_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_BLOCK_DECODER_H_
