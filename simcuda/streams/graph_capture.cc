#include "simcuda/streams/graph_capture.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "simcuda/machine/machine.h"
#include "simcuda/process/handles.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {

struct Capture {
  std::uint64_t id = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  const void* thread = nullptr;  // identifies the thread that began the capture
  Stream* origin = nullptr;
  bool invalidated = false;
  Graph* graph = nullptr;
  std::vector<Stream*> streams;
};

namespace {

struct Captures {
  Mutex mutex;
  std::vector<Capture*> under_way;
  std::map<void*, Graph> executables;
  std::uint64_t next_id = 1;
};

constinit LazyObject<Captures> captures;

Captures& All() { return captures.Get(); }

// Number of captures in progress. While it is 0, the functions for queued work take no lock.
std::atomic<int> captures_under_way{0};

thread_local CaptureMode thread_mode = CaptureMode::kGlobal;

const void* ThisThread() { return &thread_mode; }

bool Forbids(const Capture& capture) {
  if (capture.mode == CaptureMode::kRelaxed) return false;
  if (capture.thread == ThisThread()) return thread_mode != CaptureMode::kRelaxed;
  return thread_mode == CaptureMode::kGlobal && capture.mode == CaptureMode::kGlobal;
}

void End(Capture* capture) {
  for (Stream* stream : capture->streams) stream->capture = nullptr;
  std::erase(All().under_way, capture);
  captures_under_way.fetch_sub(1);
  delete capture;
}

}  // namespace

bool BeginCapture(Stream& stream, CaptureMode mode) {
  if (stream.id == 0) return false;
  const std::lock_guard lock(All().mutex);
  if (stream.capture != nullptr) return false;
  auto* const capture = new Capture{All().next_id++, mode, ThisThread(), &stream, false, new Graph, {&stream}};
  stream.capture = capture;
  All().under_way.push_back(capture);
  captures_under_way.fetch_add(1);
  return true;
}

EndResult EndCapture(Stream& stream, Graph** graph) {
  *graph = nullptr;
  const std::lock_guard lock(All().mutex);
  Capture* const capture = stream.capture;
  if (capture == nullptr) return EndResult::kNotCapturing;
  if (capture->origin != &stream) return EndResult::kNotTheOrigin;
  const bool invalidated = capture->invalidated;
  if (invalidated) {
    delete capture->graph;
  } else {
    *graph = capture->graph;
  }
  End(capture);
  return invalidated ? EndResult::kInvalidated : EndResult::kGraph;
}

CaptureState StateOf(const Stream& stream) {
  if (captures_under_way.load(std::memory_order_relaxed) == 0) return CaptureState::kNone;
  const std::lock_guard lock(All().mutex);
  if (stream.capture == nullptr) return CaptureState::kNone;
  return stream.capture->invalidated ? CaptureState::kInvalidated : CaptureState::kActive;
}

bool IsAnyCapturing() { return captures_under_way.load(std::memory_order_relaxed) > 0; }

std::uint64_t CaptureId(const Stream& stream) {
  const std::lock_guard lock(All().mutex);
  return stream.capture == nullptr ? 0 : stream.capture->id;
}

Graph* GraphOf(const Stream& stream) {
  const std::lock_guard lock(All().mutex);
  return stream.capture == nullptr ? nullptr : stream.capture->graph;
}

bool JoinByEvent(Stream& stream, const Event& event) {
  if (event.capture_id == 0) return true;
  const std::lock_guard lock(All().mutex);
  const auto& under_way = All().under_way;
  const auto found = std::ranges::find(under_way, event.capture_id, &Capture::id);
  if (found == under_way.end() || stream.capture == *found) return true;
  if (stream.capture != nullptr) return false;
  stream.capture = *found;
  (*found)->streams.push_back(&stream);
  return true;
}

void LeaveCapture(Stream& stream) {
  const std::lock_guard lock(All().mutex);
  Capture* const capture = stream.capture;
  if (capture == nullptr) return;
  stream.capture = nullptr;
  std::erase(capture->streams, &stream);
  if (capture->origin != &stream) return;
  delete capture->graph;
  End(capture);
}

bool AddNode(Stream& stream) {
  if (captures_under_way.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(All().mutex);
  if (stream.capture == nullptr) return false;
  ++stream.capture->graph->nodes;
  return true;
}

void NoteWrite(Stream& stream, ByteRange range) {
  if (captures_under_way.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(All().mutex);
  if (stream.capture != nullptr) stream.capture->graph->writes.Add(range.address, range.bytes);
}

void NoteWriteOfAny(ByteRange range) {
  if (captures_under_way.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(All().mutex);
  for (Capture* capture : All().under_way) capture->graph->writes.Add(range.address, range.bytes);
}

void* NewExecutable(const Graph& graph) {
  void* const handle = NewHandle();
  const std::lock_guard lock(All().mutex);
  All().executables[handle] = graph;
  return handle;
}

void DestroyExecutable(void* executable) {
  const std::lock_guard lock(All().mutex);
  if (All().executables.erase(executable) > 0) FreeHandle(executable);
}

bool UpdateExecutable(void* executable, const Graph& graph) {
  const std::lock_guard lock(All().mutex);
  const auto found = All().executables.find(executable);
  if (found == All().executables.end()) return false;
  found->second = graph;
  return true;
}

void Replay(void* executable, Stream& stream) {
  std::vector<ByteRange> written;
  std::uint64_t nodes = 1;
  {
    const std::lock_guard lock(All().mutex);
    const auto found = All().executables.find(executable);
    if (found == All().executables.end()) return;
    written = found->second.writes.List();
    nodes = std::max(nodes, found->second.nodes);
  }
  if (!AddNode(stream)) TheMachine().progress().Queue(stream.number(), nodes);
  for (const ByteRange range : written) {
    NoteWrite(stream, range);
    TheMachine().contents().MarkUnknown(range.address, range.bytes);
  }
}

bool IsRefusedByCapture() {
  if (captures_under_way.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(All().mutex);
  bool refused = false;
  for (Capture* capture : All().under_way) {
    if (!Forbids(*capture)) continue;
    capture->invalidated = true;
    refused = true;
  }
  return refused;
}

void Invalidate(Stream& stream) {
  const std::lock_guard lock(All().mutex);
  if (stream.capture != nullptr) stream.capture->invalidated = true;
}

CaptureMode ExchangeThreadMode(CaptureMode mode) {
  const CaptureMode before = thread_mode;
  thread_mode = mode;
  return before;
}

}  // namespace memoir::simcuda
