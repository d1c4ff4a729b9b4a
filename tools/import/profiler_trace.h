// What a trace of torch.profiler (Kineto's Chrome trace, `profile_memory=True`) says of memory, compact: each
// allocation and free, and what was open on the threads: operators, user ranges, modules, functions of Python.
//
// What a GPU ran, and all else in such a file, is passed over.
#ifndef TOOLS_IMPORT_PROFILER_TRACE_H_
#define TOOLS_IMPORT_PROFILER_TRACE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/import/byte_source.h"

namespace memoir {

struct ProfilerTrace {
  using Number = std::uint32_t;  // of a text, thread, device
  static constexpr std::int64_t kUnknown = -1;
  static constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 62;  // no block lies there or above

  enum class SpanKind : std::uint8_t {
    kOperator,  // also functions of torch that are none, such as autograd's
    kNode,      // of autograd
    kUser,      // a range of the program's, a step of an optimizer or of the profiler
    kModule,    // "Linear_0"
    kPython,    // "train.py(12): forward"
  };
  struct Span {
    std::int64_t begin = 0, end = 0;  // ns, of the trace's clock
    std::int64_t sequence = kUnknown;
    Number name = 0, thread = 0;
    std::uint32_t forward_thread = 0;  // torch's number of it
    SpanKind kind = SpanKind::kOperator;
  };
  struct Memory {
    std::int64_t ns = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;                                        // negative: a free
    std::int64_t total_allocated = kUnknown, reserved = kUnknown;  // of the device, behind the event
    Number thread = 0, device = 0;
    bool failed = false;  // out of memory: nothing was allocated
  };
  struct Thread {
    std::int64_t id = 0;
    Number name = 0;
    std::uint64_t torch_id = 0;  // to which Span::forward_thread refers; 0: not known
  };
  struct Device {
    std::int64_t type = 0, index = 0;  // c10::DeviceType
    std::string product;
  };

  std::vector<Span> spans;     // by thread, then begin; of those that begin together the longest first
  std::vector<Memory> memory;  // by time
  std::vector<Thread> threads;
  std::vector<Device> devices;  // those that have memory events
  std::deque<std::string> texts = {""};

  std::int64_t begin = 0;    // of the first event, ns
  std::int64_t base_ns = 0;  // since 1970: of the clock's 0
  std::uint64_t pid = 0;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;
  std::uint64_t of_other_processes = 0;  // memory events that are left out
  std::uint64_t unreadable = 0;          // likewise: without a time, an address or a size that can be
};

// InvalidArgument: it is something else, or has no memory events, and what to do. DataLoss: damaged, and where. The
// messages have no path.
absl::StatusOr<ProfilerTrace> ReadProfilerTrace(ByteSource& source);

}  // namespace memoir

#endif  // TOOLS_IMPORT_PROFILER_TRACE_H_
