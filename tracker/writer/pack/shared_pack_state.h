// The state that several packers use: the dictionaries, the definitions that the current chunk needs, the threads, and
// the live memory. One thread.
#ifndef TRACKER_WRITER_PACK_SHARED_PACK_STATE_H_
#define TRACKER_WRITER_PACK_SHARED_PACK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "interpose/ring/ring_reader.h"
#include "tracker/writer/dictionaries/names.h"
#include "tracker/writer/dictionaries/stack_table.h"
#include "tracker/writer/dictionaries/tensor_table.h"
#include "tracker/writer/state/memory_state.h"
#include "tracker/writer/state/threads.h"

namespace memoir {

struct SharedPackState {
  SharedPackState(const RingReader& ring, std::size_t max_live_blocks, Names::MarkUsed mark_used_names,
                  StackTable::MarkUsed mark_used_stacks)
      : threads(ring),
        names(ring, std::move(mark_used_names)),
        stacks(std::move(mark_used_stacks)),
        memory(max_live_blocks) {}

  // The functions up to DefineThread append the definition of their argument or result to `definitions`, unless this
  // part has the definition already.
  //
  // Returns the id of the name; 0 for nullptr.
  std::uint32_t DefineName(Names::Name* name) {
    if (name == nullptr) return 0;
    names.Define(name, part, &definitions);
    return name->id;
  }
  std::uint32_t FindDevice(std::uint8_t type, std::int8_t index) {
    return devices.Find(type, index, part, &definitions);
  }
  // Returns the device of a record that has a device type and a device index.
  template <typename Record>
  std::uint32_t DeviceOf(const Record& record) {
    return FindDevice(record.device_type, record.device_index);
  }
  // False: the stack was forgotten.
  bool DefineStack(std::uint32_t stack) { return stacks.Define(stack, part, names, &definitions); }
  void DefineThread(std::uint32_t thread) {
    threads.Refresh(thread);
    threads.Define(thread, part, &definitions);
  }

  // Returns the Python stack of the thread. If the thread has no Python frames, returns the stack of the thread for
  // which it works (Threads::FindWorkingThread).
  std::uint32_t OwnStack(const ThreadState& thread) const {
    return thread.stack != 0 ? thread.stack : threads.FindWorkingThread(thread).stack;
  }

  Threads threads;
  Names names;
  Devices devices;
  StackTable stacks;
  MemoryState memory;
  bool modules_are_followed = false;  // set at the first module call; until then blocks have no ModulePlace
  std::uint32_t part = 1;
  std::string definitions;  // of dictionary entries, for the Payload of the current chunk
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_SHARED_PACK_STATE_H_
