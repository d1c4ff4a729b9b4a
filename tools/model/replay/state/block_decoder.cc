#include "tools/model/replay/state/block_decoder.h"

namespace memoir {

Block BlockDecoder::Decode(const ThreadReplay& thread, RunCursor& cursor) const {
  Run& run = cursor.run;
  Block block = BlockOn(thread, context_.ids().device(run.device.Next32()), cursor.tick);
  block.address = cursor.address += static_cast<std::uint64_t>(DecodeZigZag(run.address_delta.Next()));
  block.serial = cursor.serial += static_cast<std::uint64_t>(DecodeZigZag(run.serial_delta.Next()));
  return block;
}

Block BlockDecoder::BlockOn(const ThreadReplay& thread, DeviceId device, Tick tick) const {
  Block block;
  block.device = device;
  block.tick = tick;
  block.thread = thread.id();
  const ThreadReplay& working = threads_.Working(thread);
  if (const OpenRange* range = working.outermost_operator()) {
    block.operator_name = range->name;
    block.operator_call = range->call;
  }
  if (const OpenRange* leaf = thread.innermost() == nullptr ? working.innermost() : thread.innermost())
    block.leaf_name = leaf->name;
  block.user_name = surrounding_.UserNameOf(thread);
  const Callstacks callstacks = modules_.CallstacksOf(thread);
  block.callstack = callstacks.own;
  block.forward_callstack = callstacks.forward;
  block.compiling = working.innermost() != nullptr && working.innermost()->role.compiling;
  if (context_.options().modules) {
    const ModuleContext context = modules_.Of(working);
    block.module = context.module;
    block.phase = context.phase;
    block.in_compiled_region = working.innermost() != nullptr && working.innermost()->role.compiled;
    if (working.innermost() != nullptr) block.region = working.innermost()->region;
  }
  return block;
}

void BlockDecoder::DecodeStreamAndPool(RunCursor& cursor, Block& block) {
  Run& run = cursor.run;
  block.stream = cursor.stream += static_cast<std::uint64_t>(DecodeZigZag(run.stream_delta.Next()));
  block.pool_graph = run.pool_graph.Next32();
  block.pool_user = run.pool_user.Next32();
}

}  // namespace memoir
