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
#include "interpose/parallel_regions.h"
#include "interpose/ring.h"
#include "interpose/thread_start.h"
#include "interpose/tick.h"
#include "tracker/cupti/kernel_times.h"
#include "tracker/drain/drain_process.h"
#include "tracker/host/host_readings.h"
#include "tracker/modules/direct_calls.h"
#include "tracker/modules/module_calls.h"
#include "tracker/session/dead_rings.h"
#include "tracker/session/end_snapshot.h"
#include "tracker/session/followed_mark.h"
#include "tracker/session/own_facts.h"
#include "tracker/session/own_ring.h"
#include "tracker/session/rank.h"
#include "tracker/session/recording_controls.h"
#include "tracker/session/snapshot_hooks.h"
#include "tracker/session/standby.h"
#include "tracker/session/terminal_line.h"
#include "tracker/session/unrecorded.h"
#include "tracker/stacks/stack_recorder.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// The session of this process. Leaked on exit on purpose: hooks may run until the very end. A forked child leaves its
// parent's alone, mutex and writer included, and makes its own when it starts to record.
struct Session {
  pid_t owner = getpid();
  std::mutex mutex;                // start and stop on one side, flush on the other
  Settings settings;               // of the newest start
  std::shared_ptr<Writer> writer;  // while recording
  std::shared_ptr<DeadRings> dead_rings;
  std::shared_ptr<HostReadings> host;
  std::shared_ptr<Snapshots> snapshots;  // of the newest recording
  RecordingControls* controls = nullptr;
  // Of the newest recording:
  ProcessFacts facts;
  std::optional<std::uint32_t> given_rank;
  std::optional<ProcessGroup> group;
  bool quiet = false;
  bool child = false;
  bool said_unrecorded = false;
};
constinit std::atomic<Session*> session{nullptr};

// This process's own; nullptr when it never recorded.
Session* Own() {
  Session* known = session.load(std::memory_order_acquire);
  return known != nullptr && known->owner == getpid() ? known : nullptr;
}

// This process's own, made at its first start.
Session& OwnOrNew() {
  Session* known = session.load(std::memory_order_acquire);
  if (known != nullptr && known->owner == getpid()) return *known;
  auto fresh = std::make_unique<Session>();
  if (session.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
  return *known;  // another thread's
}

// One process says it; the capture of each knows its own.
void SayConflict(const Session& own) {
  if (own.quiet || own.facts.rank != 0 || own.facts.rank_conflict.empty()) return;
  SayLine("%s", own.facts.rank_conflict.c_str());
}

// Looks again; tells the writer where that found more.
void FindRankAgain(Session& own) {
  const Rank rank = FindRank(own.given_rank, own.group);
  const bool known = rank.rank == own.facts.rank && rank.world_size == own.facts.world_size &&
                     rank.source == own.facts.rank_source && rank.conflict == own.facts.rank_conflict;
  // A launcher's variables that the program took away again (Ray) were right while they were there.
  if (known || rank.source == "none") return;
  const bool said = rank.conflict == own.facts.rank_conflict;
  TakeRank(rank, &own.facts);
  if (!said) SayConflict(own);
  own.controls->SetJob(!own.child && own.facts.rank == 0, own.facts.world_size);
  own.snapshots->SetSpeaks(!own.quiet && !own.child && own.facts.rank == 0);
  own.writer->SetProcess(own.facts);
}

// Under the mutex, while a writer is there. The first of it is said: without `memoir run` nobody shows a summary.
void NoteUnrecorded(Session& own, bool is_last = false) {
  const bool speaks = !own.quiet && !own.child && own.facts.rank == 0;
  SayUnpublished(speaks, is_last);
  if (TakeUnrecorded(&own.facts, own.writer.get()) && speaks && !std::exchange(own.said_unrecorded, true))
    SayLine("%s", UnrecordedLine(own.facts.unrecorded.front()).c_str());
}

// On the writer's thread, which whoever holds the mutex may wait for: it never waits for that.
void LookForUnrecorded() {
  Session* own = Own();
  if (own == nullptr) return;
  const std::unique_lock lock(own->mutex, std::try_to_lock);
  if (!lock.owns_lock() || own->writer == nullptr) return;
  try {
    NoteUnrecorded(*own);
  } catch (...) {  // no memory: with the next look
  }
}

// Hooks that passed the flag before it went off are short; give them time to commit what they began.
void LetHooksLeave() {
  const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  nanosleep(&pause, nullptr);
}

OperatorHook ChooseOperatorHook(const Settings& settings) {
  const OperatorHook asked = settings.dispatched_operators ? OperatorHook::kDispatch : OperatorHook::kRanges;
  char problem[512] = "";
  const OperatorHook had = PrepareOperatorHook(asked, problem, sizeof problem);
  if (had != asked && !settings.quiet && SpeaksForJob())
    SayLine("ops=dispatch: %s; operators are recorded as ranges, above autograd", problem);
  return had;
}

// For the writer's thread.
template <class Work>
void OfControls(const Work& work) {
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
  options.process = FactsNow(settings, operators, ChooseTick());
  PrepareKernelTimes(options.process.ticks_per_second);
  options.keep_empty = !settings.automatic;
  own.facts = options.process;
  own.given_rank = settings.rank;
  own.group.reset();
  own.quiet = settings.quiet;
  own.said_unrecorded = false;
  own.child = settings.child || settings.forked_from != 0;
  options.stem = FileStem(options.process);
  if (!OpenOwnRing(settings, options.stem, error)) return false;
  own.dead_rings = std::make_shared<DeadRings>(RingPath(), settings.output, InstalledDrain());
  own.host = std::make_shared<HostReadings>();
  options.on_look = [dead_rings = own.dead_rings, host = own.host] {
    dead_rings->Look();
    host->Look();
    RunAtThreadStartOfLateObjects();
    FollowParallelRegionsOfLateObjects();
    LookAtDriver();
    if (CudaIsInUse()) StartKernelTimes();
    OfControls([](RecordingControls& controls) { controls.Look(); });
    LookForUnrecorded();
  };
  if (settings.controls.detail == Detail::kAuto)
    options.is_followed = [folder = settings.output] { return IsFollowed(folder); };
  own.snapshots = std::make_shared<Snapshots>(settings.output, options.stem, settings.snapshots);
  own.snapshots->SetSpeaks(!own.quiet && !own.child && own.facts.rank == 0);
  options.snapshots = HooksOf(own.snapshots);
  options.on_failure = [] { OfControls([](RecordingControls& controls) { controls.GiveUp(); }); };
  own.writer = Writer::Start(options, error);
  return own.writer != nullptr;
}

void StartHooks(const Settings& settings, OperatorHook operators, Session& own) {
  own.settings = settings;
  WatchDriver(settings.kernels);
  if (settings.kernel_times) AskForKernelTimes();
  FollowParallelRegions();
  InstallTorchHooks(operators, settings.publishes);
  KeepForChildren(settings);
  if (!own.child) SayConflict(own);  // who started it has the same variables
  std::string warning;
  ControlOptions controls = settings.controls;
  controls.speaks = !own.child && own.facts.rank == 0;
  controls.world_size = own.facts.world_size;
  own.controls = RecordingControls::Begin(controls, &warning);
  if (!warning.empty() && controls.speaks) SayLine("%s", warning.c_str());
}

// The last of a recording, whatever failed before: a later start must find nothing in its way.
struct LastOf {
  Session& own;
  ~LastOf() {
    own.writer.reset();
    RingClose();
  }
};

// Whatever of a start exists, undone.
void Abandon(Session& own) {
  const LastOf last{own};
  EndKernelTimes();
  LeaveDriver();
  if (own.controls != nullptr) own.controls->End();
}

// Without memory to look again what is known stays.
void LookLast(Session& own) {
  try {
    FindRankAgain(own);
    NoteUnrecorded(own, true);
  } catch (...) {
  }
}

std::shared_ptr<Writer> WriterOf(Session& own) {
  const std::lock_guard lock(own.mutex);
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
    own.controls = nullptr;  // those of the recording before, which a new one frees
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
  const std::lock_guard lock(own->mutex);
  if (own->writer == nullptr) return true;
  try {
    SnapshotAtEnd(own->snapshots, *own->writer, reason, why);
  } catch (...) {  // no memory for one: the recording ends all the same
  }
  ForgetChildren();
  EndKernelTimes();
  LookLast(*own);
  const LastOf last{*own};
  ReadDevicesLast();
  own->host->Last();
  LeaveDriver();
  own->controls->End();
  LetHooksLeave();
  own->writer->Stop(reason, why);
  const WriterStatus status = own->writer->Status();
  own->writer.reset();
  own->dead_rings->Finish();
  *error = Losses(status, RingClose());
  return error->empty();
}

void NameRank(std::uint32_t rank, std::uint32_t world_size) {
  Session* own = Own();
  if (own == nullptr) return;
  const std::lock_guard lock(own->mutex);
  if (own->writer == nullptr) return;
  own->group = ProcessGroup{rank, world_size};
  FindRankAgain(*own);
}

void PlaceRank(std::vector<Coordinate> coordinates) {
  Session* own = Own();
  if (own == nullptr) return;
  const std::lock_guard lock(own->mutex);
  if (own->writer == nullptr || own->facts.coordinates == coordinates) return;
  own->facts.coordinates = std::move(coordinates);
  own->writer->SetProcess(own->facts);
}

void SeeCuda() {
  const char* problem = CudaIsReady();
  StartKernelTimes();
  Session* own = Own();
  if (own == nullptr) return;
  const std::lock_guard lock(own->mutex);
  if (own->writer == nullptr) return;
  NoteUnrecorded(*own);
  if (problem != nullptr && !own->quiet && SpeaksForJob()) SayLine("%s", problem);
}

void FlushSession() {
  Session* own = Own();
  if (own == nullptr) return;
  if (const std::shared_ptr<Writer> writer = WriterOf(*own)) writer->Flush();
}

bool SnapshotSession(std::string* folder, std::string* error) {
  Session* own = Own();
  std::shared_ptr<Writer> writer;
  std::shared_ptr<Snapshots> snapshots;
  if (own != nullptr) {
    const std::lock_guard lock(own->mutex);
    writer = own->writer;
    snapshots = own->snapshots;
  }
  if (writer == nullptr) {
    *error = "this process is not being recorded; start with memoir.start() or `memoir run`";
    return false;
  }
  SnapshotWish wish{*folder, "program", false};
  if (folder->empty()) wish = snapshots->Next("program");
  *folder = wish.folder;
  *error = writer->Snapshot(wish);
  return error->empty();
}

bool SessionRecords(bool Settings::*what) {
  Session* own = Own();
  if (own == nullptr) return false;
  const std::lock_guard lock(own->mutex);
  return own->writer != nullptr && own->settings.*what;
}

std::string SessionOutput() {
  Session* own = Own();
  if (own == nullptr) return "";
  const std::lock_guard lock(own->mutex);
  return own->settings.output;
}

}  // namespace memoir
