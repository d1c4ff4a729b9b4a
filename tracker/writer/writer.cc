#include "tracker/writer/writer.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <utility>

#include "interpose/ring.h"
#include "interpose/ring_reader.h"
#include "interpose/tick.h"
#include "tracker/writer/capture_writer.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/clock.h"
#include "tracker/writer/ring_pump.h"
#include "tracker/writer/snapshot_queue.h"
#include "tracker/writer/writer_thread.h"

namespace memoir {
namespace {

constexpr std::uint64_t kBusyWaitNs = 10'000'000;
constexpr std::uint64_t kIdleWaitNs = 100'000'000;
constexpr std::uint64_t kMaxChunkAgeNs = 1'000'000'000, kMaxAgeUnfollowedNs = 4'000'000'000;
// Ring bytes that pack to about a chunk; a small ring wakes the writer earlier, when half of it is taken.
constexpr std::uint64_t kRingBytesPerChunk = 4u << 20;
constexpr std::size_t kMaxProcessInfoBytes = 3900;

std::string ProcessInfo(const ProcessFacts& process, const RingClock& start) {
  return EncodeProcessInfo(process, start, RingPath(), kMaxProcessInfoBytes);
}

CaptureOptions OptionsFor(const WriterOptions& options, const RingClock& start) {
  CaptureOptions capture;
  capture.folder = options.folder;
  capture.stem = options.stem;
  capture.process_info = ProcessInfo(options.process, start);
  capture.keep_empty = options.keep_empty;
  capture.max_bytes = options.max_bytes;
  capture.part_bytes = options.part_bytes;
  capture.retry_ns = options.retry_ns;
  return capture;
}

}  // namespace

struct Writer::State {
  State(const CaptureOptions& options, const WriterOptions& given, const RingClock& start_clock,
        std::unique_ptr<RingReader> reader)
      : on_look(given.on_look),
        is_followed(given.is_followed),
        on_failure(given.on_failure),
        ring(std::move(reader)),
        builder(*ring),
        capture(options, *ring, &builder),
        snapshots(given.snapshots, [this](const SnapshotWish& wish) { return capture.WriteSnapshot(wish); }),
        pump(ring.get(), &builder, &capture, [this] { snapshots.AtOutOfMemory(); }),
        start(start_clock) {
    if (RepeatsSteps(given.process)) builder.FollowSteps();
  }

  int StartThread();
  WriterStatus AwaitFirstPart();
  WriterStatus StatusNow() const;  // under the mutex
  void Run() noexcept;
  void Record() noexcept;
  void Loop();
  void FinalPasses();
  bool Work(bool flush);
  void TakeProcess(std::string process_info);
  void Publish(std::uint64_t flush_done);
  void Fail(const char* what, int cause) noexcept;

  const std::function<void()> on_look;
  const std::function<bool()> is_followed;
  const std::function<void()> on_failure;
  std::unique_ptr<RingReader> ring;
  ChunkBuilder builder;
  CaptureWriter capture;
  SnapshotQueue snapshots;
  RingPump pump;
  const RingClock start;
  pthread_t thread{};
  bool runs = false;  // the thread was started and is not yet joined
  std::uint64_t last_chunk_ns = 0;
  bool woken_early = false;  // the pool runs low, or somebody asked

  mutable std::mutex mutex;  // of what follows
  std::condition_variable changed;
  WriterStatus status;
  std::uint64_t flush_asked = 0;
  std::uint64_t flush_done = 0;
  std::string new_process_info;  // not yet in the capture
  bool stop_asked = false;
  bool opened = false;     // the first part is there, or cannot be
  bool accepted = false;   // whoever started has seen that it is there
  bool ended = false;      // the thread has nothing more to do
  char failure[128] = "";  // why it gave up
  int failure_errno = 0;
  EndReason reason = EndReason::kStopped;
  std::string message;
};

void Writer::State::Publish(std::uint64_t flush_up_to) {
  const WriterStatus now = capture.Status();
  const std::lock_guard<std::mutex> lock(mutex);
  status = now;
  opened = true;
  flush_done = std::max(flush_done, flush_up_to);
  changed.notify_all();
}

// A failure ends the recording, never the program. Allocates nothing and calls nothing of torch's: memory may be what
// is missing, and what torch keeps for each thread is allocated at the first call.
void Writer::State::Fail(const char* what, int cause) noexcept {
  SetRecordingEnabled(false);
  if (on_failure) on_failure();
  const std::lock_guard<std::mutex> lock(mutex);
  std::snprintf(failure, sizeof(failure), "the writer failed: %s", what);
  failure_errno = cause;
  if (!accepted) return;  // Start says it
  // Said now: the program may go on for days.
  char line[256];
  const int size = std::snprintf(line, sizeof(line),
                                 "memoir: recording has ended: %s; what was written is in the capture\n", failure);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<std::size_t>(size));
}

void Writer::State::Run() noexcept {
  if (HasMemoryToThrow()) {
    Record();
  } else {
    Fail("no memory for its thread", ENOMEM);
  }
  snapshots.End();
  const std::lock_guard<std::mutex> lock(mutex);
  opened = ended = true;
  changed.notify_all();
}

void Writer::State::Record() noexcept {
  try {
    capture.Prepare();
    Publish(0);
    Loop();
  } catch (const std::bad_alloc& error) {
    Fail(error.what(), ENOMEM);
  } catch (const std::exception& error) {
    Fail(error.what(), 0);
  } catch (...) {
    Fail("an unknown error", 0);
  }
}

void Writer::State::Loop() {
  std::uint64_t wait_ns = kBusyWaitNs;
  for (;;) {
    const std::uint64_t wait_start = MonotonicNs();
    ring->WaitForWork(wait_ns);
    woken_early = MonotonicNs() - wait_start < wait_ns * 9 / 10;
    ring->set_last_clock(ReadClock());
    ring->HoldLock();
    std::uint64_t flush_up_to;
    bool stop;
    std::string process_info;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      flush_up_to = flush_asked;
      stop = stop_asked;
      process_info.swap(new_process_info);
    }
    if (!process_info.empty()) TakeProcess(std::move(process_info));
    if (stop) break;
    if (on_look) on_look();
    const bool asked = snapshots.Collect();
    const bool worked = Work(flush_up_to != flush_done || asked);
    wait_ns = worked ? kBusyWaitNs : std::min(wait_ns * 2, kIdleWaitNs);
    snapshots.Make();
    Publish(flush_up_to);
  }
  FinalPasses();
  snapshots.Collect();
  snapshots.Make();
  capture.Close(reason, message);
  Publish(flush_asked);
}

void Writer::State::TakeProcess(std::string process_info) {
  capture.SetProcess(std::move(process_info));
  capture.WriteCounters(0);  // a chunk to carry it
}

// One look at the ring; packs when it is worth a chunk. Returns whether there was anything new to see.
bool Writer::State::Work(bool flush) {
  // Long before the pass scans: a processor may read its counter a little late.
  const std::uint64_t horizon = Tick();
  const std::uint64_t now = MonotonicNs();
  const std::uint64_t age = now - last_chunk_ns;
  const bool old = age >= kMaxAgeUnfollowedNs || (age >= kMaxChunkAgeNs && (!is_followed || is_followed()));
  const std::uint64_t waiting = pump.Waiting();
  if (flush) capture.RetryNow();
  if (!flush && !woken_early && !old && waiting < kRingBytesPerChunk) return waiting != 0;
  last_chunk_ns = now;
  if (waiting == 0) {
    if (capture.CountersChanged()) capture.WriteCounters(horizon);
    return false;
  }
  pump.Pass(horizon, false);
  // What an off clock put behind the horizon was committed before the flush as well.
  if (flush && pump.left_some()) pump.Pass(Tick(), false);
  return true;
}

void Writer::State::FinalPasses() {
  // Threads may still be inside a hook that saw the flag on: two passes that find nothing new end it.
  for (int quiet = 0; quiet < 2;) {
    const bool wrote = pump.Pass(Tick(), false);
    quiet = wrote ? 0 : quiet + 1;
  }
  pump.Pass(~std::uint64_t{0}, true);
}

int Writer::State::StartThread() {
  const auto body = [](void* state) -> void* {
    pthread_setname_np(pthread_self(), "memoir-writer");
    static_cast<State*>(state)->Run();
    return nullptr;
  };
  const int failed = StartWriterThread(body, this, &thread);
  runs = failed == 0;
  return failed;
}

WriterStatus Writer::State::AwaitFirstPart() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return opened; });
  WriterStatus now = StatusNow();
  accepted = now.last_write_error.empty();
  return now;
}

WriterStatus Writer::State::StatusNow() const {
  WriterStatus now = status;
  if (failure[0] == '\0') return now;
  now.last_write_error = failure;
  now.last_write_errno = failure_errno;
  return now;
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Writer::~Writer() { Stop(EndReason::kStopped, ""); }

std::unique_ptr<Writer> Writer::Start(const WriterOptions& options, std::string* error) {
  *error = MakeFolder(options.folder);
  if (!error->empty()) return nullptr;
  std::unique_ptr<RingReader> ring(RingReader::OpenLive());
  if (ring == nullptr) {
    *error = RingPath()[0] == '\0'
                 ? "no event ring is open in this process; open one (RingOpen) before the writer starts"
                 : "no memory to read the event ring; allow the program more";
    return nullptr;
  }
  const RingClock start = ReadClock();
  const CaptureOptions capture = OptionsFor(options, start);
  ring->set_last_clock(ReadClock());  // the process may die before the thread's first pass
  RingSetProcessInfo(capture.process_info.data(), capture.process_info.size());
  // All that the thread needs is there before it starts, and whoever leaves this function joins it (~Writer).
  std::unique_ptr<Writer> writer(new Writer(std::make_unique<State>(capture, options, start, std::move(ring))));
  if (const int failed = writer->state_->StartThread(); failed != 0) {
    *error = CannotStartThread(failed);
    return nullptr;
  }
  const WriterStatus status = writer->state_->AwaitFirstPart();
  if (status.last_write_error.empty()) return writer;
  *error = status.last_write_error + "; " + FixFor(status.last_write_errno);
  writer->Stop(EndReason::kFailed, status.last_write_error);
  return nullptr;
}

void Writer::SetProcess(const ProcessFacts& process) {
  std::string bytes = ProcessInfo(process, state_->start);
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->ended || state_->stop_asked) return;
  RingSetProcessInfo(bytes.data(), bytes.size());
  state_->new_process_info = std::move(bytes);
  state_->ring->Wake();
}

void Writer::Stop(EndReason reason, const std::string& message) {
  if (!state_->runs) return;
  std::string copy = message;  // may throw: before anything has changed
  state_->runs = false;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->reason = reason;
    state_->message.swap(copy);
    state_->stop_asked = true;
  }
  state_->ring->Wake();
  pthread_join(state_->thread, nullptr);
}

void Writer::Flush() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  if (state_->ended || state_->stop_asked) return;
  const std::uint64_t mine = ++state_->flush_asked;
  state_->ring->Wake();
  state_->changed.wait(lock, [this, mine] { return state_->flush_done >= mine || state_->ended; });
}

std::string Writer::Snapshot(const SnapshotWish& wish) {
  return state_->snapshots.Ask(wish, [this] { state_->ring->Wake(); });
}

WriterStatus Writer::Status() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->StatusNow();
}

}  // namespace memoir
