// Writes a capture of one process (docs/capture_format.md), for the import of other programs' files. This class is
// independent of the tracker's writer.
//
// Numbers of names, stacks, threads and devices are valid for the whole file; 0 means undefined. Ticks are nanoseconds
// and never decrease. One thread.
#ifndef TOOLS_IMPORT_FILES_PART_WRITER_H_
#define TOOLS_IMPORT_FILES_PART_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "memoir/v1/capture.pb.h"

namespace memoir {

class PartWriter {
 public:
  // The values of a block, a segment or an out-of-memory error. Fields that a kind of event lacks
  // (docs/capture_format.md) stay 0.
  struct MemoryEvent {
    v1::EventKind kind;
    std::uint32_t device = 0;
    std::uint64_t address = 0, serial = 0, bytes = 0, requested_bytes = 0, stream = 0;
    std::uint32_t pool_graph = 0, pool_user = 0;
    std::uint64_t device_free = 0;
  };
  struct Statistics {
    std::uint64_t allocated = 0, active = 0, reserved = 0, retries = 0, ooms = 0;
  };

  struct Thread {
    std::uint64_t os_id = 0, torch_id = 0;  // torch_id: the number in a node's forward_thread; 0: unknown
    std::string name;
  };
  // The sequence number of an operator or autograd node. -1 if it has no number.
  struct Sequence {
    std::int64_t number = -1;
    std::uint64_t forward_thread = 0;
  };

  // `info` contains the clock at the start. No event has a smaller tick than this clock. `write` receives the file's
  // bytes in order.
  PartWriter(v1::ProcessInfo info, std::function<absl::Status(std::string_view)> write);

  std::uint32_t AddText(std::string_view text) { return AddName(v1::NameDef::TEXT, text, ""); }
  std::uint32_t AddOperator(std::string_view name) { return AddName(v1::NameDef::OPERATOR, name, ""); }
  std::uint32_t AddCode(std::string_view file, std::string_view function) {
    return AddName(v1::NameDef::CODE, function, file);
  }
  // `root` is the class of the root module. `path` is the path from the root module. Empty for the root module itself.
  std::uint32_t AddModule(const std::string& root, const std::string& path, const std::string& module_class);
  std::uint32_t AddStack(std::uint32_t parent, std::uint32_t code, std::uint32_t line);
  std::uint32_t AddDevice(const std::string& type, std::uint32_t index, const std::string& product = "");
  std::uint32_t AddThread(const Thread& thread);

  // Sets the thread of all following events. Call it before the first event.
  void SetThread(std::uint32_t thread) { thread_ = thread; }
  void BeginRange(v1::EventKind kind, std::uint64_t tick, std::uint32_t name) { BeginRange(kind, tick, name, {}); }
  void BeginRange(v1::EventKind kind, std::uint64_t tick, std::uint32_t name, const Sequence& sequence);
  void EndRange(std::uint64_t tick);
  void EnterModule(std::uint64_t tick, std::uint32_t module);
  void ExitModule(std::uint64_t tick, std::uint32_t module);
  void SetStack(std::uint64_t tick, std::uint32_t stack);  // writes no event if the stack is unchanged
  void AddMemory(std::uint64_t tick, const MemoryEvent& memory);
  void AddStatistics(std::uint64_t tick, std::uint32_t device, std::uint64_t serial, const Statistics& statistics);

  // Ends the file; call it last. Returns the first error of all calls.
  absl::Status Finish();
  std::uint64_t events() const { return events_; }

 private:
  // The state of a thread, and its run in the current chunk, if it has one.
  struct ThreadState {
    std::uint64_t events = 0;
    std::uint32_t depth = 0, stack = 0;
    v1::ThreadRun* run = nullptr;
    std::uint64_t tick = 0;  // tick of the run's last event
    // The previous values, to which the next deltas refer.
    std::uint64_t address = 0, serial = 0, stream = 0, sequence = 0;
    bool pools = false;  // the run contains a private pool
  };

  std::uint32_t AddName(v1::NameDef::Kind kind, std::string_view text, std::string_view file);
  v1::ThreadRun& AddEvent(v1::EventKind kind, std::uint64_t tick);
  void AddPlace(v1::ThreadRun& run, const MemoryEvent& memory);
  void NoteDefinition(std::size_t bytes);
  void StartRun(ThreadState& state, std::uint64_t tick);
  void EndRun(ThreadState& state);
  void EndChunk(bool last);
  void Write(v1::Chunk& chunk);
  void AppendBytes(std::string_view bytes);
  ThreadState& thread_state() { return states_[thread_ - 1]; }

  const std::function<absl::Status(std::string_view)> write_;
  const v1::ProcessInfo info_;
  std::uint64_t recording_ = 0;
  v1::Payload payload_;
  v1::Index index_;
  absl::Status status_;
  std::uint64_t sequence_ = 0, offset_ = 0, events_ = 0, tick_ = 0;
  std::uint32_t names_ = 0, stacks_ = 0, devices_ = 0, thread_ = 0;
  std::vector<ThreadState> states_;  // by thread, from 1
  std::uint64_t chunk_events_ = 0, chunk_tick_ = 0;
  std::size_t defined_bytes_ = 0;  // approximate size of the current chunk's definitions
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_FILES_PART_WRITER_H_
