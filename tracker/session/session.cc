#include "tracker/session/session.h"

#include <unistd.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/cuda/driver_watch.h"
#include "interpose/imports/parallel_regions.h"
#include "interpose/imports/thread_start.h"
#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"
#include "tracker/cupti/kernel_times.h"
#include "tracker/drain/drain_process.h"
#include "tracker/host/host_readings.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/module_calls.h"
#include "tracker/session/control/recording_controls.h"
#include "tracker/session/control/short_lock.h"
#include "tracker/session/dead_ring_drainer.h"
#include "tracker/session/end_snapshot.h"
#include "tracker/session/own_ring.h"
#include "tracker/session/process/follower_detection.h"
#include "tracker/session/process/rank.h"
#include "tracker/session/process/terminal_line.h"
#include "tracker/session/process/unrecorded.h"
#include "tracker/session/process_facts_at_start.h"
#include "tracker/session/snapshot_hooks.h"
#include "tracker/session/standby.h"
#include "tracker/stacks/stack_recorder.h"
#include "tracker/torch/hooks.h"
#include "tracker/writer/throwing_work.h"

namespace memoir {
namespace {

// The session of this process. Never freed, because hooks may run until the process ends. A forked child does not use
// its parent's session, not even the mutex and the writer, and makes a new session when it starts to record.
struct Session {
  pid_t owner = getpid();
  std::mutex mutex;                // protects the other members
  Settings settings;               // of the newest recording
  std::shared_ptr<Writer> writer;  // nullptr while nothing is recorded
  std::shared_ptr<DeadRingDrainer> dead_rings;
  std::shared_ptr<HostSampler> host;
  std::shared_ptr<RecordingSnapshots> snapshots;  // of the newest recording
  RecordingControls* controls = nullptr;
  ProcessFacts facts;  // this member and the next ones belong to the newest recording
  std::optional<std::uint32_t> given_rank;
  std::optional<ProcessGroup> group;
  bool quiet = false, child = false, unrecorded_is_printed = false;
};
constinit std::atomic<Session*> session{nullptr};

// Returns this process's session; nullptr if this process has never recorded.
Session* Own() {
  Session* known = session.load(std::memory_order_acquire);
  return known != nullptr && known->owner == getpid() ? known : nullptr;
}

Session& OwnOrNew() {
  Session* known = session.load(std::memory_order_acquire);
  if (known != nullptr && known->owner == getpid()) return *known;
  auto fresh = std::make_unique<Session>();
  if (session.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
  return *known;  // another thread has made the session
}

// On rank 0, prints the contradiction between the sources of its rank (rank.h), which the capture contains too.
void PrintConflict(const Session& own) {
  if (own.quiet || own.facts.rank != 0 || own.facts.rank_conflict.empty()) return;
  PrintLine("%s", own.facts.rank_conflict.c_str());
}

// Determines the rank again. If it has changed, passes the new rank to the writer.
void FindRankAgain(Session& own) {
  const Rank rank = FindRank(own.given_rank, own.group);
  const bool known = rank.rank == own.facts.rank && rank.world_size == own.facts.world_size &&
                     rank.source == own.facts.rank_source && rank.conflict == own.facts.rank_conflict;
  // If no source is left, the earlier rank stays: a program may have removed its launcher's variables, as with Ray.
  if (known || rank.source == "none") return;
  const bool is_printed = rank.conflict == own.facts.rank_conflict;
  CopyRank(rank, &own.facts);
  if (!is_printed) PrintConflict(own);
  own.controls->SetJob(!own.child && own.facts.rank == 0, own.facts.world_size);
  own.snapshots->SetReporting(!own.quiet && !own.child && own.facts.rank == 0);
  own.writer->SetProcess(own.facts);
}

// Finds unrecorded events (unrecorded.h), and passes changes to the writer. Prints at most one line in a recording,
// about the first of these events; the capture contains all of them. Call it under the mutex, while a writer exists.
void NoteUnrecorded(Session& own, bool is_last = false) {
  const bool is_reporting = !own.quiet && !own.child && own.facts.rank == 0;
  PrintUnpublished(is_reporting, is_last);
  if (TakeUnrecorded(&own.facts, own.writer.get()) && is_reporting && !std::exchange(own.unrecorded_is_printed, true))
    PrintLine("%s", UnrecordedLine(own.facts.unrecorded.front()).c_str());
}

// Called on the writer's thread. Never waits for the mutex, whose holder may be waiting for the writer's thread.
void LookForUnrecorded() {
  Session* own = Own();
  if (own == nullptr) return;
  const std::unique_lock lock(own->mutex, std::try_to_lock);
  if (!lock.owns_lock() || own->writer == nullptr) return;
  try {
    NoteUnrecorded(*own);
  } catch (...) {  // no memory: the next call tries again
  }
}

// Waits 2 ms, so that hooks that read the flag before it was cleared can commit their records.
void LetHooksLeave() {
  const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  nanosleep(&pause, nullptr);
}

OperatorHook ChooseOperatorHook(const Settings& settings) {
  const OperatorHook asked = settings.dispatched_operators ? OperatorHook::kDispatch : OperatorHook::kRanges;
  char problem[512] = "";
  const OperatorHook had = PrepareOperatorHook(asked, problem, sizeof problem);
  if (had != asked && !settings.quiet && IsReportingProcess())
    PrintLine("ops=dispatch: %s; operators are recorded as ranges, above autograd", problem);
  return had;
}

// Calls `work` with the controls of this process. For the writer's thread.
template <class Work>
void WithControls(const Work& work) {
  const auto done = [&](RecordingControls& controls) {
    work(controls);
    return true;
  };
  RecordingControls::WithCurrent(done, false);
}

bool StartWriter(const Settings& settings, OperatorHook operators, Session& own, std::string* error) {
  WriterOptions options;
  options.folder = settings.output;
  options.max_bytes = settings.max_size;
  options.process = CollectProcessFacts(settings, operators, ChooseTick());
  PrepareKernelTimes(options.process.ticks_per_second);
  options.keep_empty = !settings.automatic;
  own.facts = options.process;
  own.given_rank = settings.rank;
  own.group.reset();
  own.quiet = settings.quiet;
  own.unrecorded_is_printed = false;
  own.child = settings.child || settings.forked_from != 0;
  options.stem = FileStem(options.process);
  if (!OpenOwnRing(settings, options.stem, error)) return false;
  own.dead_rings = std::make_shared<DeadRingDrainer>(RingPath(), settings.output, InstalledDrain());
  InOwnFilesThrowing([&own] { own.host = std::make_shared<HostSampler>(); });
  options.before_read = [dead_rings = own.dead_rings, host = own.host] {
    InOwnFilesThrowing([&] {
      dead_rings->Look();
      host->Look();
    });
    RunAtThreadStartOfLateObjects();
    FollowParallelRegionsOfLateObjects();
    WrapNewObjects();
    if (CudaIsInUse()) StartKernelTimes();
    WithControls([](RecordingControls& controls) { controls.Look(); });
    LookForUnrecorded();
  };
  if (settings.controls.detail == Detail::kAuto)
    options.is_followed = [folder = settings.output] { return IsFollowed(folder); };
  own.snapshots = std::make_shared<RecordingSnapshots>(settings.output, options.stem, settings.snapshots);
  own.snapshots->SetReporting(!own.quiet && !own.child && own.facts.rank == 0);
  options.snapshots = HooksOf(own.snapshots);
  options.on_failure = [] { WithControls([](RecordingControls& controls) { controls.GiveUp(); }); };
  own.writer = Writer::Start(options, error);
  return own.writer != nullptr;
}

void StartHooks(const Settings& settings, OperatorHook operators, Session& own) {
  own.settings = settings;
  WatchDriver(settings.kernels);
  if (settings.kernel_times) RequestKernelTimes();
  FollowParallelRegions();
  InstallTorchHooks(operators, settings.publishes);
  KeepForChildren(settings);
  if (!own.child) PrintConflict(own);  // in a child, the parent prints the same line
  std::string warning;
  ControlOptions controls = settings.controls;
  controls.is_reporting = !own.child && own.facts.rank == 0;
  controls.world_size = own.facts.world_size;
  own.controls = RecordingControls::Begin(controls, &warning);
  if (!warning.empty() && controls.is_reporting) PrintLine("%s", warning.c_str());
}

// Frees the writer and closes the ring, even after a failure, so that a later recording can start.
struct SessionCloser {
  Session& own;
  ~SessionCloser() {
    const bool has_ended = own.writer == nullptr || own.writer->Stop(EndReason::kStopped, "");
    own.writer.reset();
    if (has_ended) RingClose();  // else the writer's thread hangs, and may use the ring at any time
  }
};

// Undoes a start that failed.
void Abandon(Session& own) {
  const SessionCloser last{own};
  EndKernelTimes();
  StopWatchingDriver();
  if (own.controls != nullptr) own.controls->End();
}

void LookLast(Session& own) {
  try {
    FindRankAgain(own);
    NoteUnrecorded(own, true);
  } catch (...) {  // no memory: the earlier facts stay
  }
}

std::shared_ptr<Writer> WriterOf(Session& own) {
  const ShortLock lock(own.mutex);
  return own.writer;
}

}  // namespace

bool StartSession(const Settings& settings, std::string* error) {
  Session& own = OwnOrNew();
  const std::lock_guard lock(own.mutex);
  if (own.writer != nullptr) {
    *error = "this process is being recorded already, into " + own.settings.output +
             "; stop that first, or do not start here";
    return false;
  }
  try {
    own.controls = nullptr;  // the previous recording's controls, which the new recording frees
    const OperatorHook operators = ChooseOperatorHook(settings);
    PrepareStacks(settings.stacks, settings.native_stacks);
    ForgetModules();
    if (!settings.modules) SetPythonFrames(nullptr);
    if (StartWriter(settings, operators, own, error)) {
      StartHooks(settings, operators, own);
      return true;
    }
  } catch (...) {
    Abandon(own);
    throw;
  }
  Abandon(own);
  return false;
}

bool StopSession(EndReason reason, const std::string& why, std::string* error) {
  Session* own = Own();
  if (own == nullptr) return true;
  const auto lock = LockWithin(own->mutex);
  if (!lock.owns_lock()) return *error = DescribeBusySession(), false;
  if (own->writer == nullptr) return true;
  try {
    SnapshotAtEnd(own->snapshots, *own->writer, reason, why);
  } catch (...) {  // no memory for a snapshot: the recording ends without it
  }
  ForgetChildren();
  EndKernelTimes();
  LookLast(*own);
  const SessionCloser last{*own};
  ReadDevicesLast();
  // If the files thread is busy too long, the capture lacks this sample; if it hangs, Writer::Stop returns false.
  InOwnFilesThrowingWithin(kMaxLockWaitNs, [own] { own->host->RecordLast(); });
  StopWatchingDriver();
  reason == EndReason::kExited ? own->controls->Leave() : own->controls->End();
  LetHooksLeave();
  if (!own->writer->Stop(reason, why)) return *error = DescribeUnwritten(own->settings.output, RingPath()), false;
  const WriterStatus status = own->writer->Status();
  own->writer.reset();
  InOwnFiles([own] { own->dead_rings->Finish(); });
  *error = DescribeLosses(status, RingClose());
  return error->empty();
}

void SetRank(std::uint32_t rank, std::uint32_t world_size) {
  Session* own = Own();
  if (own == nullptr) return;
  const ShortLock lock(own->mutex);
  if (own->writer == nullptr) return;
  own->group = ProcessGroup{rank, world_size};
  FindRankAgain(*own);
}

void SetCoordinates(std::vector<Coordinate> coordinates) {
  Session* own = Own();
  if (own == nullptr) return;
  const ShortLock lock(own->mutex);
  if (own->writer == nullptr || own->facts.coordinates == coordinates) return;
  own->facts.coordinates = std::move(coordinates);
  own->writer->SetProcess(own->facts);
}

void NoteCudaReady() {
  const char* problem = CudaIsReady();
  StartKernelTimes();
  Session* own = Own();
  if (own == nullptr) return;
  const ShortLock lock(own->mutex);
  if (own->writer == nullptr) return;
  NoteUnrecorded(*own);
  if (problem != nullptr && !own->quiet && IsReportingProcess()) PrintLine("%s", problem);
}

void FlushSession() {
  Session* own = Own();
  if (own == nullptr) return;
  if (const std::shared_ptr<Writer> writer = WriterOf(*own)) writer->Flush();
}

bool SnapshotSession(std::string* folder, std::string* error) {
  Session* own = Own();
  std::shared_ptr<Writer> writer;
  std::shared_ptr<RecordingSnapshots> snapshots;
  if (own != nullptr) {
    const ShortLock lock(own->mutex);
    writer = own->writer;
    snapshots = own->snapshots;
  }
  if (writer == nullptr) {
    *error = "this process is not being recorded; start with memoir.start() or `memoir run`";
    return false;
  }
  RequestedSnapshot wish{*folder, "program", false};
  if (folder->empty()) wish = snapshots->PlanNext("program");
  *folder = wish.folder;
  *error = writer->WriteSnapshot(wish);
  return error->empty();
}

bool SessionRecords(bool Settings::* what) {
  Session* own = Own();
  if (own == nullptr) return false;
  const ShortLock lock(own->mutex);
  return own->writer != nullptr && own->settings.*what;
}

std::string SessionOutput() {
  Session* own = Own();
  if (own == nullptr) return "";
  const ShortLock lock(own->mutex);
  return own->settings.output;
}

}  // namespace memoir
