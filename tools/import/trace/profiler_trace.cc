#include "tools/import/trace/profiler_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/import/trace/kineto_json.h"

namespace memoir {
namespace {

using Index = ProfilerTrace::Index;
using Span = ProfilerTrace::Span;
using SpanKind = ProfilerTrace::SpanKind;

constexpr std::size_t kMostEvents = std::size_t{1} << 25;  // of each kind
constexpr std::uint64_t kMostNameBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostThreads = std::size_t{1} << 16, kMostDevices = 64;
constexpr std::uint64_t kMostSum = std::uint64_t{1} << 61;  // limit of the sum of all sizes, so that no sum overflows
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kCuda = 1;  // c10::DeviceType
constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr double kMostUs = 9e15;  // the year 2255, if times count from 1970

bool IsUserRange(const KinetoEvent& event) {
  return event.category == "user_annotation" || event.name.starts_with("ProfilerStep#") ||
         event.name.starts_with("Optimizer.step#") || event.name.starts_with("Optimizer.zero_grad#");
}

// Returns the kind of a span. nullopt for spans that cannot explain an allocation. In traces of torch 1, the category
// of operators is "Operator".
std::optional<SpanKind> KindOf(const KinetoEvent& event) {
  const bool is_operator = event.category == "cpu_op" || event.category == "Operator";
  if (is_operator || event.category == "user_annotation") {
    if (IsUserRange(event)) return SpanKind::kUser;
    if (event.name == "torch::autograd::AccumulateGrad") return SpanKind::kNode;
    return event.forward_thread > 0 && !event.name.starts_with("autograd::engine::") ? SpanKind::kNode
                                                                                     : SpanKind::kOperator;
  }
  if (event.category != "python_function") return std::nullopt;
  if (event.name.starts_with(kModulePrefix)) return SpanKind::kModule;
  // Functions in C have no file: "<built-in function len>".
  return event.name.starts_with("<built-in ") ? std::nullopt : std::optional(SpanKind::kPython);
}

std::optional<std::int64_t> Nanoseconds(double us) {
  if (!(us >= 0) || us > kMostUs) return std::nullopt;
  return std::llround(us * 1000);
}

class TraceReader : public KinetoVisitor {
 public:
  absl::Status OnEvent(const KinetoEvent& event) override;
  ProfilerTrace Take(const KinetoHead& head);

 private:
  absl::Status AddSpan(const KinetoEvent& event, SpanKind kind);
  absl::Status AddMemory(const KinetoEvent& event, bool failed);
  void NameThread(const KinetoEvent& event);
  Index TextOf(std::string_view text);
  Index ThreadOf(const KinetoEvent& event);
  Index DeviceOf(std::int64_t type, std::int64_t index);

  ProfilerTrace trace_;
  absl::Status status_;             // an error if the trace exceeds a limit
  std::vector<std::int64_t> pids_;  // by thread
  absl::flat_hash_map<std::pair<std::int64_t, std::int64_t>, Index> threads_, devices_;
  absl::flat_hash_map<std::string_view, Index> texts_;
  std::uint64_t name_bytes_ = 0, all_bytes_ = 0;
};

absl::Status TooMany(std::size_t most, std::string_view of_what) {
  return absl::ResourceExhaustedError(absl::StrCat("a trace of more than ", most, " ", std::string(of_what)));
}

absl::Status TraceReader::OnEvent(const KinetoEvent& event) {
  if (event.phase == 'M' && event.name == "thread_name") NameThread(event);
  if (event.phase == 'i' && event.name == "[memory]") return AddMemory(event, false);
  if (event.phase == 'i' && event.name == "[OutOfMemory]") return AddMemory(event, true);
  if (event.phase != 'X') return status_;
  const std::optional<SpanKind> kind = KindOf(event);
  return kind ? AddSpan(event, *kind) : status_;
}

absl::Status TraceReader::AddSpan(const KinetoEvent& event, SpanKind kind) {
  const std::optional<std::int64_t> begin = Nanoseconds(event.us);
  if (!begin) return status_;
  const double duration = event.duration > 0 ? std::min(event.duration, kMostUs - event.us) : 0;
  if (trace_.spans.size() == kMostEvents) return TooMany(kMostEvents, "operators and calls");
  std::string_view name = event.name;
  if (kind == SpanKind::kModule) name.remove_prefix(kModulePrefix.size());
  constexpr std::int64_t kMostThread = std::numeric_limits<std::uint32_t>::max();
  trace_.spans.push_back(
      {.begin = *begin,
       .end = *begin + std::llround(duration * 1000),
       .sequence = std::max(event.sequence, ProfilerTrace::kUnknown),
       .name = TextOf(name),
       .thread = ThreadOf(event),
       .forward_thread = static_cast<std::uint32_t>(std::clamp<std::int64_t>(event.forward_thread, 0, kMostThread)),
       .kind = kind});
  return status_;
}

absl::Status TraceReader::AddMemory(const KinetoEvent& event, bool failed) {
  const std::optional<std::int64_t> ns = Nanoseconds(event.us);
  bool possible = ns && event.has_bytes && event.bytes != 0 && event.bytes > -kMostBytes && event.bytes < kMostBytes &&
                  (failed ? event.bytes > 0 : event.address != 0 && event.address < ProfilerTrace::kMostAddress);
  if (possible) all_bytes_ += static_cast<std::uint64_t>(std::abs(event.bytes));
  possible = possible && all_bytes_ <= kMostSum;
  if (!possible) {
    ++trace_.unreadable;
    return status_;
  }
  if (trace_.memory.size() == kMostEvents) return TooMany(kMostEvents, "memory events");
  const auto total = [](std::int64_t bytes) {
    return bytes < 0 || bytes >= kMostBytes ? ProfilerTrace::kUnknown : bytes;
  };
  trace_.memory.push_back({.ns = *ns,
                           .address = event.address,
                           .bytes = event.bytes,
                           .total_allocated = total(event.total_allocated),
                           .reserved = total(event.reserved),
                           .thread = ThreadOf(event),
                           .device = DeviceOf(event.device_type, event.device),
                           .failed = failed});
  return status_;
}

// Reads a thread's name from "thread 4711 (python)", whose number is the thread id.
void TraceReader::NameThread(const KinetoEvent& event) {
  std::string_view name = event.given_name;
  const std::size_t open = name.find('(');
  if (name.starts_with("thread ") && open != name.npos && name.ends_with(')'))
    name = name.substr(open + 1, name.size() - open - 2);
  trace_.threads[ThreadOf(event)].name = TextOf(name);
}

Index TraceReader::TextOf(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) return found->second;
  name_bytes_ += text.size() + 100;
  if (name_bytes_ > kMostNameBytes) status_ = absl::ResourceExhaustedError("a trace whose names take more than 1 GiB");
  const auto number = static_cast<Index>(trace_.texts.size());
  texts_.emplace(trace_.texts.emplace_back(text), number);
  return number;
}

Index TraceReader::ThreadOf(const KinetoEvent& event) {
  const auto [found, added] =
      threads_.try_emplace({event.pid, event.thread}, static_cast<Index>(trace_.threads.size()));
  if (!added) return found->second;
  if (trace_.threads.size() == kMostThreads) status_ = TooMany(kMostThreads, "threads");
  trace_.threads.push_back({.id = event.thread});
  pids_.push_back(event.pid);
  return found->second;
}

Index TraceReader::DeviceOf(std::int64_t type, std::int64_t index) {
  index = std::max<std::int64_t>(index, 0);  // the CPU has the index -1
  const auto [found, added] = devices_.try_emplace({type, index}, static_cast<Index>(trace_.devices.size()));
  if (!added) return found->second;
  if (trace_.devices.size() == kMostDevices) status_ = TooMany(kMostDevices, "devices");
  if (type < 0 || type > 255 || index > 255)
    status_ = absl::InvalidArgumentError(
        absl::StrCat("a trace of device ", index, " of type ", type, ", which is impossible"));
  trace_.devices.push_back({.type = type, .index = index, .product = ""});
  return found->second;
}

// Keeps the events of the process with the first memory event, and sorts them.
ProfilerTrace TraceReader::Take(const KinetoHead& head) {
  std::vector<std::int64_t> pids = std::move(pids_);
  const std::int64_t pid = trace_.memory.empty() ? 0 : pids[trace_.memory.front().thread];
  const auto of_others = [&](const auto& event) { return pids[event.thread] != pid; };
  trace_.pid = static_cast<std::uint64_t>(std::max<std::int64_t>(pid, 0));
  trace_.of_other_processes = std::erase_if(trace_.memory, of_others);
  std::erase_if(trace_.spans, of_others);
  std::ranges::stable_sort(trace_.memory, {}, &ProfilerTrace::MemoryEvent::ns);
  std::ranges::stable_sort(trace_.spans, [](const Span& a, const Span& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  trace_.begin = trace_.memory.empty() ? 0 : trace_.memory.front().ns;
  for (const Span& span : trace_.spans) trace_.begin = std::min(trace_.begin, span.begin);
  for (ProfilerTrace::Device& device : trace_.devices) {
    const auto product = head.products.find(device.index);
    if (device.type == kCuda && product != head.products.end()) device.product = product->second;
  }
  trace_.base_ns = head.base_ns;
  trace_.rank = head.rank;
  trace_.world_size = head.world_size;
  return std::move(trace_);
}

// Sets Thread::torch_id. An autograd node has the sequence number of its operator, and torch's number for the
// operator's thread. So the thread of the operator with this sequence number is the thread with torch's number.
void FindTorchThreads(ProfilerTrace& trace) {
  absl::flat_hash_map<std::int64_t, Index> of_sequence;
  for (const Span& span : trace.spans) {
    if (span.kind == SpanKind::kOperator && span.forward_thread == 0 && span.sequence >= 0)
      of_sequence.try_emplace(span.sequence, span.thread);
  }
  absl::flat_hash_map<std::uint32_t, Index> found;
  for (const Span& span : trace.spans) {
    if (span.forward_thread == 0 || span.sequence < 0) continue;
    const auto forward = of_sequence.find(span.sequence);
    if (forward != of_sequence.end()) found.try_emplace(span.forward_thread, forward->second);
  }
  for (const auto& [torch_id, thread] : found) {
    std::uint64_t& known = trace.threads[thread].torch_id;
    known = known == 0 ? torch_id : std::min<std::uint64_t>(known, torch_id);
  }
}

}  // namespace

absl::StatusOr<ProfilerTrace> ReadProfilerTrace(ByteSource& source) {
  TraceReader reader;
  KinetoHead head;
  if (absl::Status read = ReadKinetoJson(source, reader, head); !read.ok()) return read;
  ProfilerTrace trace = reader.Take(head);
  if (trace.memory.empty() && trace.unreadable > 0)
    return absl::DataLossError(
        absl::StrCat("a trace of torch.profiler, of whose ", trace.unreadable, " memory events none can be read"));
  if (trace.memory.empty()) {
    return absl::InvalidArgumentError(
        "a trace without memory events; record it with torch.profiler.profile(..., profile_memory=True)");
  }
  FindTorchThreads(trace);
  return trace;
}

}  // namespace memoir
