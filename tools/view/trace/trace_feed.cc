#include "tools/view/trace/trace_feed.h"

#include <algorithm>
#include <string>

#include "tools/model/kernel_name.h"

namespace memoir {
namespace {

constexpr std::uint64_t kNextSame = 10'000'000;       // added to a number in use; larger than any process id
constexpr std::uint64_t kFirstTrack = 1'000'000'000;  // thread number of a device's first stream
constexpr std::uint64_t kStepTrack = kFirstTrack - 1;

std::string_view CategoryOf(const StreamedNode& node) {
  if (node.kind == StreamedNode::Kind::kModule) return "module";
  if (node.kind == StreamedNode::Kind::kCall) return "Python function";
  switch (node.source) {
    case RangeSource::kBackward:
      return "autograd";
    case RangeSource::kUser:
    case RangeSource::kNvtx:
      return "user range";
    case RangeSource::kFunction:
    case RangeSource::kDispatch:
      return "operator";
  }
  return "operator";
}

}  // namespace

std::uint64_t TraceFeed::PidOf(ProcessId process) {
  const auto [known, added] = pids_.try_emplace(process, 0);
  if (!added) return known->second;
  const ProcessSummary& summary = capture_.processes()[process.value];
  std::uint64_t pid = summary.info.pid();
  while (!used_pids_.insert(pid).second) pid += kNextSame;
  known->second = pid;
  const std::string program = summary.info.program().empty() ? "(unnamed program)" : ToUtf8(summary.info.program());
  const std::optional<std::uint32_t> rank = summary.rank();
  const std::string name = rank ? "rank " + std::to_string(*rank) + ": " + program : program;
  sink_.AddProcess(pid, has_others_ ? "Memoir, " + name : name);
  return pid;
}

TraceFeed::Thread& TraceFeed::ThreadOf(ThreadId id, ProcessId process, const Dictionary& dictionary) {
  const auto known = threads_.find(id);
  if (known != threads_.end()) return known->second;
  const std::uint64_t pid = PidOf(process);
  Thread& thread = threads_[id];
  const ThreadInfo info = id.valid() ? dictionary.thread(id) : ThreadInfo{};
  std::uint64_t tid = info.os_id != 0 ? info.os_id : info.number;
  while (!used_tids_.insert({pid, tid}).second) tid += kNextSame;
  thread.shown = {pid, tid};
  const std::string name = info.name.empty() ? "thread " + std::to_string(info.number) : info.name;
  sink_.AddThread(thread.shown, id.valid() ? name : "(no thread)");
  return thread;
}

void TraceFeed::NoteTime(ProcessId process, std::uint64_t ns) {
  const auto [shown, added] = shown_.try_emplace(process, TimeExtent{ns, ns});
  shown->second.latest_ns = std::max(shown->second.latest_ns, ns);
}

// Closes the innermost open slice. If the end of the slice was not recorded, the slice ends at the next event.
void TraceFeed::Close(Thread& thread, std::uint64_t ns) {
  const std::uint64_t end_ns = thread.open.back().end_ns.value_or(ns);
  thread.open.pop_back();
  thread.latest_ns = std::max(thread.latest_ns, end_ns);
  sink_.End(thread.shown, thread.latest_ns);
}

// Closes the slices that have ended when a node begins: all slices that do not contain the node.
void TraceFeed::CloseBefore(Thread& thread, const StreamedNode& node, std::uint64_t ns) {
  const auto around = [&](const OpenSlice& open) { return open.node == node.parent; };
  const bool inside = node.parent != kNoTreeNode && std::ranges::any_of(thread.open, around);
  while (!thread.open.empty()) {
    const OpenSlice& last = thread.open.back();
    if (inside ? around(last) : last.end_ns && *last.end_ns > ns) return;
    Close(thread, ns);
  }
}

std::string_view TraceFeed::ModuleText(ModuleId id, const Dictionary& dictionary) {
  if (!id.valid()) return "";
  const auto [known, added] = modules_.try_emplace(id);
  const Module& module = dictionary.module(id);
  if (added) known->second = module.full_path();
  return known->second;
}

std::string_view TraceFeed::CallText(ModuleId id, const Dictionary& dictionary) {
  const auto [known, added] = calls_.try_emplace(id);
  if (!added) return known->second;
  if (!id.valid()) return known->second = "(unnamed module)";
  const Module& module = dictionary.module(id);
  known->second = module.display_path();
  if (!module.path.empty() && !module.class_name.empty()) known->second += " (" + module.class_name + ")";
  return known->second;
}

std::string_view TraceFeed::FunctionText(CodeId id, const Dictionary& dictionary) {
  if (!id.valid()) return "(unknown function)";
  const auto [known, added] = functions_.try_emplace(id);
  if (!added) return known->second;
  const Code& code = dictionary.code(id);
  known->second = code.function;
  if (!code.file.empty()) known->second += " (" + std::string(code.file_name()) + ")";
  return known->second;
}

std::string_view TraceFeed::NameOf(const StreamedNode& node, const Dictionary& dictionary) {
  switch (node.kind) {
    case StreamedNode::Kind::kModule:
      return CallText(node.module, dictionary);
    case StreamedNode::Kind::kCall:
      return FunctionText(node.code, dictionary);
    case StreamedNode::Kind::kRange:
    case StreamedNode::Kind::kMemory:
    case StreamedNode::Kind::kDeviceCall:
      break;
  }
  return dictionary.text(node.name);
}

std::string_view TraceFeed::KernelText(NameId kernel, const Dictionary& dictionary) {
  const auto [known, added] = kernels_.try_emplace(kernel);
  if (added) known->second = KernelName(dictionary.text(kernel));
  return known->second;
}

LaunchedRuns& TraceFeed::RunsOf(ProcessId process) {
  if (runs_process_ != process) runs_.TakeRunsWithoutCall();
  runs_process_ = process;
  return runs_;
}

TraceFeed::Thread& TraceFeed::TrackOf(ProcessId process, const DeviceRun& run, const Dictionary& dictionary) {
  const auto [known, added] = tracks_.try_emplace({process, {run.device, run.stream}});
  if (!added) return known->second;
  const std::uint64_t pid = PidOf(process);
  std::uint64_t tid = kFirstTrack + run.stream;  // no system thread has that number
  while (!used_tids_.insert({pid, tid}).second) ++tid;
  known->second.shown = {pid, tid};
  sink_.AddThread(known->second.shown,
                  ToString(dictionary.device(run.device)) + " stream " + std::to_string(run.stream));
  return known->second;
}

// Shows a run on a device. The runs of one stream happen one after another, and are reported in this order.
void TraceFeed::ShowRun(ProcessId process, const LaunchingCall& call, const DeviceRun& run, const ReplayState& state) {
  const Dictionary& dictionary = state.dictionary();
  const NameId kernel = run.kernel.valid() ? run.kernel : call.kernel;
  const bool named = run.kind == v1::RUN_OF_KERNEL && kernel.valid();
  const std::string device = ToString(dictionary.device(run.device));
  TraceSlice slice{named ? KernelText(kernel, dictionary) : call.call, ToString(run.kind), "", ""};
  slice.device = device;
  slice.stream = run.stream;
  slice.bytes = run.bytes;
  Thread& track = TrackOf(process, run, dictionary);
  const std::uint64_t begin_ns = std::max(track.latest_ns, state.Nanoseconds(process, run.begin));
  sink_.Begin(track.shown, begin_ns, slice);
  track.latest_ns = begin_ns + run.ns;
  sink_.End(track.shown, track.latest_ns);
}

void TraceFeed::AddKernelRun(const KernelRunEvent& event, const ReplayState& state) {
  const DeviceRun run = DeviceRunOf(event);
  if (const LaunchingCall* call = RunsOf(event.process).AddRun(event.correlation, run); call != nullptr)
    ShowRun(event.process, *call, run, state);
}

void TraceFeed::AddDeviceCall(const StreamedNode& node, const ReplayState& state) {
  const DeviceCallEvent& call = *node.device_call;
  const std::uint64_t ns = state.Nanoseconds(node.process, node.begin);
  Thread& thread = ThreadOf(node.thread, node.process, state.dictionary());
  CloseBefore(thread, node, ns);
  thread.latest_ns = std::max(thread.latest_ns, ns);
  const std::string device = ToString(state.dictionary().device(call.device));
  const std::string_view name = call.kernel.valid() ? KernelText(call.kernel, state.dictionary()) : ToString(call.call);
  TraceSlice slice{name, call.is_launch ? "kernel launch" : "cuda call", ModuleText(node.module, state.dictionary()),
                   ToString(node.phase)};
  slice.device = device;
  slice.stream = call.stream;
  slice.bytes = call.bytes;
  sink_.Begin(thread.shown, thread.latest_ns, slice);
  thread.latest_ns = std::max(thread.latest_ns, state.Nanoseconds(call.process, call.tick));
  sink_.End(thread.shown, thread.latest_ns);
  NoteTime(node.process, ns);
  NoteTime(node.process, thread.latest_ns);
  if (call.correlation == 0) return;
  const LaunchingCall launching{true, ToString(call.call), call.copy_kind, call.kernel, call.leaf_name};
  for (const DeviceRun& run : RunsOf(call.process).AddCall(call.correlation, launching))
    ShowRun(call.process, launching, run, state);
}

void TraceFeed::Add(const StreamedNode& node, const ReplayState& state) {
  if (node.kind == StreamedNode::Kind::kDeviceCall) return AddDeviceCall(node, state);
  const Dictionary& dictionary = state.dictionary();
  const std::uint64_t ns = state.Nanoseconds(node.process, node.begin);
  NoteTime(node.process, ns);
  if (node.end) NoteTime(node.process, state.Nanoseconds(node.process, *node.end));
  if (node.kind == StreamedNode::Kind::kMemory) {
    const bool failed = node.action == MemoryAction::kOutOfMemory || node.action == MemoryAction::kDriverRefused;
    if (!failed) return;
    Thread& thread = ThreadOf(node.thread, node.process, dictionary);
    thread.latest_ns = std::max(thread.latest_ns, ns);
    return sink_.Instant(thread.shown, ns, "out of memory", node.bytes);
  }
  Thread& thread = ThreadOf(node.thread, node.process, dictionary);
  CloseBefore(thread, node, ns);
  thread.latest_ns = std::max(thread.latest_ns, ns);
  const std::string_view name = NameOf(node, dictionary);
  sink_.Begin(thread.shown, thread.latest_ns,
              {name.empty() ? "(unnamed)" : name, CategoryOf(node), ModuleText(node.module, dictionary),
               ToString(node.phase), node.allocated, node.freed});
  std::optional<std::uint64_t> end_ns;
  if (node.end) end_ns = state.Nanoseconds(node.process, *node.end);
  thread.open.push_back({node.number, end_ns});
}

TraceFeed::Counters& TraceFeed::CountersOf(DeviceId device, const Dictionary& dictionary) {
  const auto known = counters_.find(device);
  if (known != counters_.end()) return known->second;
  const std::string name = ToString(dictionary.device(device));
  return counters_[device] = {
             {name + " allocated", name + " allocated, chosen blocks", name + " active", name + " reserved"}, {}};
}

void TraceFeed::AddDeviceChange(const Event& event, DeviceId device, LiveBytes live, const ReplayState& state) {
  Counters& counters = CountersOf(device, state.dictionary());
  const DeviceMemory& memory = state.memory(device);
  const std::uint64_t bytes[] = {memory.caching() ? memory.allocated().all : live.all, live.chosen, memory.active().all,
                                 memory.reserved().all};
  const bool counted[] = {true, counts_chosen_, memory.caching(), memory.caching()};
  const std::uint64_t ns = state.Nanoseconds(event.process, event.tick);
  NoteTime(event.process, ns);
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (!counted[i] || counters.shown[i] == bytes[i]) continue;
    counters.shown[i] = bytes[i];
    sink_.Count(PidOf(event.process), ns, counters.names[i], bytes[i]);
  }
}

void TraceFeed::AddMark(const MarkEvent& event, const ReplayState& state) {
  const std::uint64_t ns = state.Nanoseconds(event.process, event.tick);
  NoteTime(event.process, ns);
  const std::string_view name = state.dictionary().text(event.name);
  sink_.Instant(ThreadOf(event.thread, event.process, state.dictionary()).shown, ns, name.empty() ? "(unnamed)" : name,
                std::nullopt);
}

// Shows the steps of each process on a separate track. A step ends when the next step begins.
void TraceFeed::ShowSteps(const std::vector<StepTime>& steps) {
  absl::flat_hash_set<ProcessId> begun;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepTime& step = steps[i];
    const auto shown = shown_.find(step.process);
    if (shown == shown_.end()) continue;
    const bool is_last = i + 1 == steps.size() || steps[i + 1].process != step.process;
    const std::uint64_t begin_ns = std::max(step.begin_ns, shown->second.first_ns);
    const std::uint64_t end_ns =
        is_last ? shown->second.latest_ns : std::min(steps[i + 1].begin_ns, shown->second.latest_ns);
    if (begin_ns >= end_ns) continue;
    const TraceThread track{PidOf(step.process), kStepTrack};
    if (begun.insert(step.process).second) sink_.AddThread(track, "steps");
    const std::string name = "step " + std::to_string(step.step);
    sink_.Begin(track, begin_ns, {name, "step", "", ""});
    sink_.End(track, end_ns);
  }
}

void TraceFeed::Finish(const std::vector<StepTime>& steps) {
  std::vector<ThreadId> ids;
  for (const auto& [id, thread] : threads_) ids.push_back(id);
  std::ranges::sort(ids, {}, &ThreadId::value);  // so that exports of the same capture are equal
  for (const ThreadId id : ids) {
    Thread& thread = threads_.at(id);
    while (!thread.open.empty()) Close(thread, thread.latest_ns);
  }
  ShowSteps(steps);
  sink_.Finish();
}

}  // namespace memoir
