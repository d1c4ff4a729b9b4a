// Writes a capture of one process (docs/capture_format.md), for what other programs recorded. It shares no code with
// the recorder.
//
// Numbers of names, stacks, threads and devices are good for the whole file; 0 is none. Ticks are nanoseconds and must
// not fall. Used by one thread.
#ifndef TOOLS_IMPORT_CAPTURE_WRITER_H_
#define TOOLS_IMPORT_CAPTURE_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "memoir/v1/capture.pb.h"

namespace memoir {

class CaptureWriter {
 public:
  // Of a block, segment or out of memory. What its kind does not have (capture_format.md) stays 0.
  struct Memory {
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
    std::uint64_t os_id = 0, torch_id = 0;  // torch_id: to which forward_thread of a node refers; 0: not known
    std::string name;
  };
  // Of an operator or autograd node. -1: none.
  struct Sequence {
    std::int64_t number = -1;
    std::uint64_t forward_thread = 0;
  };

  // `info` with the clock at its start, whose tick is the least of all. `write` gets the file's bytes in order.
  CaptureWriter(v1::ProcessInfo info, std::function<absl::Status(std::string_view)> write);

  std::uint32_t AddText(std::string_view text) { return AddName(v1::NameDef::TEXT, text, ""); }
  std::uint32_t AddOperator(std::string_view name) { return AddName(v1::NameDef::OPERATOR, name, ""); }
  std::uint32_t AddCode(std::string_view file, std::string_view function) {
    return AddName(v1::NameDef::CODE, function, file);
  }
  // `path` from the root, whose class is `root`; "": it is the root.
  std::uint32_t AddModule(const std::string& root, const std::string& path, const std::string& module_class);
  std::uint32_t AddStack(std::uint32_t parent, std::uint32_t code, std::uint32_t line);
  std::uint32_t AddDevice(const std::string& type, std::uint32_t index, const std::string& product = "");
  std::uint32_t AddThread(const Thread& thread);

  // All that follows is of this thread. Before the first event there must be one.
  void SetThread(std::uint32_t thread) { thread_ = thread; }
  void BeginRange(v1::EventKind kind, std::uint64_t tick, std::uint32_t name) { BeginRange(kind, tick, name, {}); }
  void BeginRange(v1::EventKind kind, std::uint64_t tick, std::uint32_t name, const Sequence& sequence);
  void EndRange(std::uint64_t tick);
  void EnterModule(std::uint64_t tick, std::uint32_t module);
  void ExitModule(std::uint64_t tick, std::uint32_t module);
  void SetStack(std::uint64_t tick, std::uint32_t stack);  // nothing where it is that already
  void AddMemory(std::uint64_t tick, const Memory& memory);
  void AddStatistics(std::uint64_t tick, std::uint32_t device, std::uint64_t serial, const Statistics& statistics);

  // The last: ends the file. What went wrong before shows here, too.
  absl::Status Finish();
  std::uint64_t events() const { return events_; }

 private:
  // What a thread is in, and its run in the chunk in work, if it has one.
  struct State {
    std::uint64_t events = 0;
    std::uint32_t depth = 0, stack = 0;
    v1::ThreadRun* run = nullptr;
    std::uint64_t tick = 0;  // of the run's last event
    // What the run's deltas are to.
    std::uint64_t address = 0, serial = 0, stream = 0, sequence = 0;
    bool pools = false;  // the run has private pools
  };

  std::uint32_t AddName(v1::NameDef::Kind kind, std::string_view text, std::string_view file);
  v1::ThreadRun& AddEvent(v1::EventKind kind, std::uint64_t tick);
  void AddPlace(v1::ThreadRun& run, const Memory& memory);
  void NoteDefinition(std::size_t bytes);
  void StartRun(State& state, std::uint64_t tick);
  void EndRun(State& state);
  void EndChunk(bool last);
  void Write(v1::Chunk& chunk);
  void Put(std::string_view bytes);
  State& state() { return states_[thread_ - 1]; }

  const std::function<absl::Status(std::string_view)> write_;
  const v1::ProcessInfo info_;
  std::uint64_t recording_ = 0;
  v1::Payload payload_;
  v1::Index index_;
  absl::Status status_;
  std::uint64_t sequence_ = 0, offset_ = 0, events_ = 0, tick_ = 0;
  std::uint32_t names_ = 0, stacks_ = 0, devices_ = 0, thread_ = 0;
  std::vector<State> states_;  // by thread, from 1
  std::uint64_t chunk_events_ = 0, chunk_tick_ = 0;
  std::size_t defined_bytes_ = 0;  // of the chunk in work, about
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_CAPTURE_WRITER_H_
