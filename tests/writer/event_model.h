// The tests' own idea of an event: what a producer recorded, and what a reader that follows docs/capture_format.md gets
// back.
#ifndef TESTS_WRITER_EVENT_MODEL_H_
#define TESTS_WRITER_EVENT_MODEL_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace memoir::test {

using DeviceName = std::pair<std::string, std::uint32_t>;  // "cuda", 1

struct TensorSeen {
  std::uint64_t impl = 0;
  std::uint64_t storage = 0;
  std::uint64_t storage_bytes = 0;
  std::uint32_t dtype = 0;
  DeviceName device{"cpu", 0};
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // empty: contiguous
  bool has_storage = true;
  bool shape_unknown = false;
  bool wants_gradient = false;
  bool unlisted = false;
  bool operator==(const TensorSeen&) const = default;
};

struct FrameSeen {
  std::string file;
  std::string function;
  std::uint32_t line = 0;
  bool operator==(const FrameSeen&) const = default;
};

struct Event {
  int kind = 0;  // memoir.v1.EventKind
  std::uint64_t tick = 0;
  std::string name;  // ranges and marks; modules: path
  std::string module_class;
  std::string module_root;
  std::string schema;  // "": a text; after it the texts of all overloads, one per line
  std::vector<bool> written;
  std::int64_t sequence = 0;
  std::uint64_t forward_thread = 0;
  std::string kinds;
  std::vector<std::uint32_t> list_lengths;
  std::uint64_t owner = 0;                         // of an optimizer's holdings
  std::vector<std::string> held_names;             // of a module's; "": not known
  std::vector<std::optional<TensorSeen>> tensors;  // nullopt: undefined, or not recorded
  std::uint64_t address = 0;
  std::uint64_t serial = 0;
  std::uint64_t bytes = 0;
  DeviceName device{"cpu", 0};
  std::uint64_t step = 0;
  std::uint64_t requested = 0;  // of devices with a caching allocator, as the next four
  std::uint64_t stream = 0;
  std::pair<std::uint32_t, std::uint32_t> pool;
  std::uint64_t device_free = 0;
  std::uint64_t device_limit = ~std::uint64_t{0};  // not known
  std::vector<std::uint64_t> statistics;
  std::uint32_t driver_call = 0;  // of a driver allocation, as the next four
  std::string library;
  std::uint32_t driver_error = 0;
  std::uint32_t reading_cause = 0;
  std::vector<std::uint64_t> reading;  // all ones: not known
  std::vector<FrameSeen> frames;       // of a stack, outermost first; of a call what is called
  std::uint32_t device_call = 0;       // of calls of CUDA, as the next six
  std::uint32_t call_result = 0;
  std::vector<std::uint32_t> grid;  // launches
  std::uint32_t copy_kind = 0;      // all others, as the next three
  std::uint64_t graph = 0;
  std::uint64_t graph_exec = 0;
  std::uint64_t call_ticks = 0;
  std::uint32_t correlation = 0;  // of any of these, and of what ran, as the next four
  std::uint32_t run_kind = 0;
  std::uint32_t run_stream = 0;
  std::uint64_t run_age = 0;
  std::uint64_t run_ns = 0;
  std::uint32_t level = 0;  // after, plus 4 times before; of a call: calls around it

  bool operator==(const Event&) const = default;
};

inline void PrintTo(const Event& event, std::ostream* out) {
  *out << "kind " << event.kind << " tick " << event.tick << " name '" << event.name << "' sequence " << event.sequence
       << " kinds '" << event.kinds << "' tensors " << event.tensors.size() << " address " << event.address
       << " serial " << event.serial << " bytes " << event.bytes << " device " << event.device.first << ":"
       << event.device.second << " step " << event.step;
}

}  // namespace memoir::test

#endif  // TESTS_WRITER_EVENT_MODEL_H_
