// The memory events of a torch.profiler trace in compact form (Kineto's Chrome trace, `profile_memory=True`): each
// allocation and free, and the threads' spans: operators, user ranges, modules, Python functions.
//
// GPU activity and all other events in the file are ignored.
#ifndef TOOLS_IMPORT_TRACE_PROFILER_TRACE_H_
#define TOOLS_IMPORT_TRACE_PROFILER_TRACE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/import/files/byte_source.h"

namespace memoir {

struct ProfilerTrace {
  using Index = std::uint32_t;  // number of a text, thread or device
  static constexpr std::int64_t kUnknown = -1;
  static constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 62;  // no block lies there or above

  enum class SpanKind : std::uint8_t {
    kOperator,  // also functions of torch that are not operators, such as autograd's
    kNode,      // an autograd node
    kUser,      // a range of the program, or a step of an optimizer or of the profiler
    kModule,    // "Linear_0"
    kPython,    // "train.py(12): forward"
  };
  struct Span {
    std::int64_t begin = 0, end = 0;  // ns of the trace's clock
    std::int64_t sequence = kUnknown;
    Index name = 0, thread = 0;
    std::uint32_t forward_thread = 0;  // torch's number of the forward pass's thread
    SpanKind kind = SpanKind::kOperator;
  };
  struct MemoryEvent {
    std::int64_t ns = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;                                        // negative: a free
    std::int64_t total_allocated = kUnknown, reserved = kUnknown;  // totals of the device after the event
    Index thread = 0, device = 0;
    bool failed = false;  // out of memory; `bytes` were requested, but not allocated
  };
  struct Thread {
    std::int64_t id = 0;
    Index name = 0;
    std::uint64_t torch_id = 0;  // the number in Span::forward_thread; 0: unknown
  };
  struct Device {
    std::int64_t type = 0, index = 0;  // c10::DeviceType
    std::string product;
  };

  std::vector<Span> spans;          // sorted by thread, then by begin, then the longest first
  std::vector<MemoryEvent> memory;  // by time
  std::vector<Thread> threads;
  std::vector<Device> devices;  // devices with memory events
  std::deque<std::string> texts = {""};

  std::int64_t begin = 0;    // time of the first event, in ns
  std::int64_t base_ns = 0;  // time of the clock's 0, since 1970
  std::uint64_t pid = 0;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;
  std::uint64_t of_other_processes = 0;  // omitted memory events of other processes
  std::uint64_t unreadable = 0;          // omitted memory events with an impossible time, address or size
};

// Reads a trace. Returns InvalidArgument if the file is not a trace or has no memory events; the message contains the
// remedy. Returns DataLoss if the file is damaged; the message contains the offset. Messages contain no path.
absl::StatusOr<ProfilerTrace> ReadProfilerTrace(ByteSource& source);

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_PROFILER_TRACE_H_
