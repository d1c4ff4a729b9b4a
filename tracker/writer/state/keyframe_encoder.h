// Encodes a keyframe from the writer's state, so that a reader can begin in the middle of a recording. One thread.
#ifndef TRACKER_WRITER_STATE_KEYFRAME_ENCODER_H_
#define TRACKER_WRITER_STATE_KEYFRAME_ENCODER_H_

#include <cstdint>
#include <string>

#include "interpose/records/ring_record.h"
#include "tracker/writer/dictionaries/names.h"
#include "tracker/writer/dictionaries/stack_table.h"
#include "tracker/writer/dictionaries/tensor_table.h"
#include "tracker/writer/state/driver_state.h"
#include "tracker/writer/state/host_state.h"
#include "tracker/writer/state/memory_state.h"
#include "tracker/writer/state/threads.h"

namespace memoir {

// The parts of the writer's state that a keyframe contains or needs.
struct KeyframeSources {
  const MemoryState& memory;
  const DriverState& driver;
  const HostState& host;
  Names& names;
  Devices& devices;
  Threads& threads;
  StackTable& stacks;
  RecordingLevel level;
};

// Appends two things to `payload`, an encoded Payload: first the definitions (names, stacks, threads, devices) that the
// keyframe needs and that the part `part` lacks, and then the Keyframe. `events_before`: number of events of the
// recording before the keyframe.
void EncodeKeyframe(const KeyframeSources& sources, std::uint32_t part, std::uint64_t tick, std::uint64_t events_before,
                    std::string* payload);

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_KEYFRAME_ENCODER_H_
