#include "tracker/writer/writer.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <mutex>
#include <utility>

#include "interpose/ring/ring.h"
#include "interpose/ring/ring_reader.h"
#include "interpose/system/tick.h"
#include "tracker/writer/capture_writer.h"
#include "tracker/writer/chunk_builder.h"
#include "tracker/writer/file/ring_clock.h"
#include "tracker/writer/ring_pump.h"
#include "tracker/writer/snapshot_queue.h"
#include "tracker/writer/throwing_work.h"
#include "tracker/writer/writer_thread.h"
#include "tracker/writer/writer_wait.h"

namespace memoir {
namespace {

constexpr std::uint64_t kBusyWaitNs = 10'000'000;
constexpr std::uint64_t kIdleWaitNs = 100'000'000;
constexpr std::uint64_t kMaxChunkAgeNs = 1'000'000'000, kMaxAgeUnfollowedNs = 4'000'000'000;
// Bytes in the ring that become about one chunk. The writer is woken earlier if less than half of the ring is free.
constexpr std::uint64_t kRingBytesPerChunk = 4u << 20;
constexpr std::size_t kMaxProcessInfoBytes = 3900;

std::string ProcessInfo(const ProcessFacts& process, const RingClock& start) {
  return EncodeProcessInfo(process, start, RingPath(), kMaxProcessInfoBytes);
}

CaptureOptions OptionsFor(const WriterOptions& options, const RingClock& start, std::function<void()> on_chunk) {
  CaptureOptions capture;
  capture.folder = options.folder;
  capture.stem = options.stem;
  capture.process_info = ProcessInfo(options.process, start);
  capture.keep_empty = options.keep_empty;
  capture.max_bytes = options.max_bytes;
  capture.part_bytes = options.part_bytes;
  capture.retry_ns = options.retry_ns;
  capture.on_chunk = std::move(on_chunk);
  return capture;
}

}  // namespace

struct Writer::State {
  State(const WriterOptions& given, const RingClock& start_clock, std::unique_ptr<RingReader> reader)
      : wait(given.patience_ns),
        before_read(given.before_read),
        is_followed(given.is_followed),
        on_failure(given.on_failure),
        ring(std::move(reader)),
        builder(*ring),
        capture(OptionsFor(given, start_clock, [this] { wait.NoteProgress(); }), *ring, &builder),
        snapshots(
            given.snapshots, [this](const RequestedSnapshot& wish) { return capture.WriteSnapshot(wish); }, &wait),
        pump(ring.get(), &builder, &capture, [this] { snapshots.AtOutOfMemory(); }),
        start(start_clock) {
    if (UsesPatternRows(given.process)) builder.FollowSteps();
  }

  int StartThread();
  WriterStatus AwaitFirstPart();
  WriterStatus StatusNow() const;  // call it under the mutex
  void Run() noexcept;
  void Record() noexcept;
  void Loop();
  void FinalPasses();
  bool Work(bool flush);
  void TakeProcess(std::string process_info);
  void Publish(std::uint64_t flush_done);
  void Fail(const char* what, int cause) noexcept;

  WriterWait wait;
  const std::function<void()> before_read;
  const std::function<bool()> is_followed;
  const std::function<void()> on_failure;
  std::unique_ptr<RingReader> ring;
  ChunkBuilder builder;
  CaptureWriter capture;
  SnapshotQueue snapshots;
  RingPump pump;
  const RingClock start;
  pthread_t thread{};
  bool runs = false;      // the thread was started and is not yet joined
  bool is_stuck = false;  // the thread hangs: it is never joined, and this object is never freed
  std::uint64_t last_chunk_ns = 0;
  bool woken_early = false;  // less than half of the ring is free, or another thread has woken the writer

  mutable std::mutex mutex;  // guards the members below
  WriterStatus status;
  std::uint64_t flush_asked = 0, flush_done = 0;
  std::string new_process_info;  // not yet written into the capture; "": no change
  bool stop_asked = false;
  bool opened = false;     // the first part was created, or creating it has failed
  bool accepted = false;   // Start has returned successfully, so an error must be printed
  bool ended = false;      // the thread's work has ended
  char failure[128] = "";  // the reason why the writer gave up; "": it did not
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
  wait.NoteProgress();
}

// Ends the recording, never the program. Memory may have run out: does not allocate or call torch, which may allocate.
void Writer::State::Fail(const char* what, int cause) noexcept {
  SetRecordingEnabled(false);
  if (on_failure) on_failure();
  const std::lock_guard<std::mutex> lock(mutex);
  std::snprintf(failure, sizeof(failure), "the writer failed: %s", what);
  failure_errno = cause;
  if (!accepted) return;  // Start returns the error
  // The message is printed at once, because the program may run for days.
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
  wait.NoteProgress();
}

void Writer::State::Record() noexcept {
  try {
    InOwnFilesThrowing([this] { capture.Prepare(); });
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
    std::uint64_t flush_up_to;
    bool stop;
    std::string process_info;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      flush_up_to = flush_asked;
      stop = stop_asked;
      process_info.swap(new_process_info);
    }
    if (!process_info.empty()) InOwnFilesThrowing([&] { TakeProcess(std::move(process_info)); });
    if (stop) break;
    if (before_read) before_read();
    InOwnFilesThrowing([&] {
      const bool asked = snapshots.CollectDue();
      const bool worked = Work(flush_up_to != flush_done || asked);
      wait_ns = worked ? kBusyWaitNs : std::min(wait_ns * 2, kIdleWaitNs);
      snapshots.MakeCollected();
    });
    Publish(flush_up_to);
  }
  InOwnFilesThrowing([this] {
    FinalPasses();
    snapshots.CollectDue();
    snapshots.MakeCollected();
    capture.Close(reason, message);
  });
  Publish(flush_asked);
}

void Writer::State::TakeProcess(std::string process_info) {
  capture.SetProcess(std::move(process_info));
  capture.WriteCounters(0);  // writes a chunk that contains the ProcessInfo
}

// Reads the ring once. Packs and writes its records if they are enough for a chunk, if the last chunk was long ago, or
// if `flush` is true. Returns true if there were new records.
bool Writer::State::Work(bool flush) {
  // Read well before the scan, because a processor may read its tick counter slightly later than in program order.
  const std::uint64_t horizon = Tick();
  const std::uint64_t now = MonotonicNs();
  const std::uint64_t age = now - last_chunk_ns;
  const bool old = age >= kMaxAgeUnfollowedNs || (age >= kMaxChunkAgeNs && (!is_followed || is_followed()));
  const std::uint64_t waiting = pump.CountWaitingBytes();
  if (flush) capture.RetryNow();
  if (!flush && !woken_early && !old && waiting < kRingBytesPerChunk) return waiting != 0;
  last_chunk_ns = now;
  if (waiting == 0) {
    if (capture.CountersChanged()) capture.WriteCounters(horizon);
    return false;
  }
  pump.PackUntil(horizon, false);
  // If a processor's clock is wrong, a record that was committed before the flush may have a tick after the horizon.
  if (flush && pump.left_some()) pump.PackUntil(Tick(), false);
  return true;
}

void Writer::State::FinalPasses() {
  // Hooks that began before recording was switched off may still run, so two calls in a row must write nothing.
  for (int quiet = 0; quiet < 2;) {
    const bool wrote = pump.PackUntil(Tick(), false);
    quiet = wrote ? 0 : quiet + 1;
  }
  pump.PackUntil(~std::uint64_t{0}, true);
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
  while (!wait.WaitUntil(lock, [this] { return opened; })) {
  }
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

Writer::~Writer() {
  // If the thread hangs, it may still use the state, which is therefore never freed.
  static std::atomic<State*> left_to_its_thread{nullptr};
  if (!Stop(EndReason::kStopped, "")) left_to_its_thread = state_.release();
}

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
  const std::string process_info = ProcessInfo(options.process, start);
  ring->set_last_clock(ReadClock());  // now, because the process may die before the thread's first scan
  RingSetProcessInfo(process_info.data(), process_info.size());
  // The Writer owns the state before the thread starts. So if this function fails or throws, ~Writer joins the thread.
  std::unique_ptr<Writer> writer(new Writer(std::make_unique<State>(options, start, std::move(ring))));
  if (const int failed = writer->state_->StartThread(); failed != 0) {
    *error = ThreadStartError(failed);
    return nullptr;
  }
  const WriterStatus status = writer->state_->AwaitFirstPart();
  if (status.last_write_error.empty()) return writer;
  *error = status.last_write_error + "; " + RemedyFor(status.last_write_errno);
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

bool Writer::Stop(EndReason reason, const std::string& message) {
  if (!state_->runs) return !state_->is_stuck;
  std::string copy = message;  // before anything is changed, because the copy may throw
  state_->runs = false;
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->reason = reason;
  state_->message.swap(copy);
  state_->stop_asked = true;
  state_->ring->Wake();
  state_->is_stuck = !state_->wait.WaitUntil(lock, [this] { return state_->ended; });
  lock.unlock();
  state_->is_stuck ? pthread_detach(state_->thread) : pthread_join(state_->thread, nullptr);
  return !state_->is_stuck;
}

void Writer::Flush() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  if (state_->ended || state_->stop_asked) return;
  const std::uint64_t mine = ++state_->flush_asked;
  state_->ring->Wake();
  state_->wait.WaitUntil(lock, [this, mine] { return state_->flush_done >= mine || state_->ended; });
}

std::string Writer::WriteSnapshot(const RequestedSnapshot& wish) {
  return state_->snapshots.Request(wish, [this] { state_->ring->Wake(); });
}

WriterStatus Writer::Status() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->StatusNow();
}

}  // namespace memoir
