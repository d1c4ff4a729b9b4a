#include "tracker/cupti/kernel_times.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "interpose/cuda/correlation.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/profiler_calls.h"
#include "interpose/ring/write_record.h"
#include "interpose/system/own_work.h"
#include "interpose/system/tick.h"
#include "tracker/cupti/activity_record.h"
#include "tracker/cupti/cupti_library.h"
#include "tracker/cupti/launch_callbacks.h"

namespace memoir {
namespace {

// The phases of the subscription, in order: kNone, kAsked (times are requested), kStarting, kOn (subscribed), kLeaving,
// kOff. If the start fails, kOff follows kStarting. Several threads may try to change the phase. The thread that
// succeeds does the work of the new phase.
enum class Phase : std::uint8_t { kNone, kAsked, kStarting, kOn, kLeaving, kOff };
constinit std::atomic<Phase> phase{Phase::kNone};
// The process that set `phase`. In a forked child, `phase` is a copy of the parent's phase, and is not valid.
constinit std::atomic<pid_t> owner{0};
constinit CuptiLibrary cupti{};  // filled by the thread that subscribes, then used by all threads
constinit CUpti_SubscriberHandle subscriber = nullptr;
constinit double ticks_per_ns = 1;

constinit std::atomic<bool> recorded{false};
constinit std::atomic<const char*> problem{nullptr};
constinit std::atomic<std::uint64_t> problem_since{0};
constinit std::atomic<std::uint64_t> dropped{0};
constinit char refusal[320] = "";
constexpr char kAside[] = "another profiler (torch.profiler, for one) began to use CUPTI, and Memoir left it";
constexpr char kBusy[] = "another profiler uses CUPTI already";
constexpr char kHeldByAnother[] = "a thread that was starting or leaving CUPTI has not come back for 5 s";

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constexpr std::uint32_t kFlushMs = 200;  // CUPTI delivers records of finished work within this time

// True for each recent call (launch, copy or fill) that was recorded, indexed by the low bits of the call's correlation
// id. Calls that the program makes while operators are not recorded, for example outside of the steps that `--steps`
// selects, are not recorded. The times of such calls are not recorded either.
constexpr std::size_t kLaunches = 65536;
constinit std::atomic<bool> launch_is_recorded[kLaunches]{};

// The buffers for CUPTI's records: 1.5 MiB of the program's memory (docs/architecture.md). A page uses memory only
// after the first write to it.
constexpr std::size_t kBuffers = 6, kBufferBytes = 256 * 1024;
alignas(64) constinit std::uint8_t buffers[kBuffers][kBufferBytes]{};
constinit std::atomic<bool> buffer_is_taken[kBuffers]{};

void SetProblem(const char* why) {
  problem_since.store(Tick(), std::memory_order_release);
  problem.store(why, std::memory_order_release);  // after problem_since, so that readers of `problem` see it
}

void CountLost(std::uint64_t records) {
  dropped.fetch_add(records, std::memory_order_relaxed);
  std::uint64_t never = 0;
  problem_since.compare_exchange_strong(never, Tick(), std::memory_order_relaxed);
}

void Refuse(const std::string& why) {
  std::snprintf(refusal, sizeof refusal, "%s", why.c_str());
  SetProblem(refusal);
}

// CUPTI's callback: called inside of a CUDA call, on the thread of the call. Stores the call's correlation id. If a
// call of CUDA's runtime calls the driver, CUPTI calls back twice; the id of the runtime's call then stays.
void CUPTIAPI SeeCall(void*, CUpti_CallbackDomain domain, CUpti_CallbackId, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite != CUPTI_API_ENTER) return;
  launch_is_recorded[call.correlationId % kLaunches].store(RangeEpoch() != 0, std::memory_order_relaxed);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || memoir_cuda_correlation == 0)
    memoir_cuda_correlation = call.correlationId;
}

// Provides a buffer in which CUPTI stores records. If no buffer is free, CUPTI drops and counts the records.
void CUPTIAPI GiveBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = nullptr;
  *size = *most_records = 0;
  for (std::size_t i = 0; i < kBuffers && *buffer == nullptr; ++i) {
    if (buffer_is_taken[i].exchange(true, std::memory_order_acq_rel)) continue;
    *buffer = buffers[i];
    *size = kBufferBytes;
  }
}

ClockPair ReadClocks() {
  ClockPair pair;
  const std::uint64_t before = Tick();
  if (cupti.GetTimestamp(&pair.ns) != CUPTI_SUCCESS) return {};
  pair.tick = before + (Tick() - before) / 2;
  return pair;
}

void Record(const ActivityRun& run, const ClockPair& clocks) {
  if (!launch_is_recorded[run.correlation % kLaunches].load(std::memory_order_relaxed)) return;
  if (!HasTimes(run)) return;
  const std::uint32_t kernel = run.kind == RunKind::kKernel ? KernelNameId(run.symbol) : 0;
  const auto fill = [&](KernelRunRecord& record) {
    record.begin = std::min(TickOf(run.start, clocks, ticks_per_ns), record.tick);
    record.ns = run.end - run.start;
    record.bytes = run.bytes;
    record.correlation = run.correlation;
    record.kernel = kernel;
    record.stream = run.stream;
    record.device_index = static_cast<std::int8_t>(std::min<std::uint32_t>(run.device, INT8_MAX));
    record.copy_kind = run.copy_kind;
  };
  if (!WriteRecord<KernelRunRecord>(RecordKind::kKernelRun, static_cast<std::uint8_t>(run.kind), fill,
                                    OnEmptyPool::kWait))
    CountLost(1);
}

// Reads the records of a buffer that CUPTI returns, and frees the buffer. Called on a thread of CUPTI, or on a thread
// that flushes CUPTI's buffers.
void CUPTIAPI TakeBuffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                         std::size_t valid) {
  if (buffer == nullptr) return;
  const ClockPair clocks = ReadClocks();
  CUpti_Activity* record = nullptr;
  ActivityRun run;
  while (cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (!ReadActivity(record, &run)) continue;
    clocks.ns != 0 ? Record(run, clocks) : CountLost(1);
  }
  std::size_t lost = 0;
  if (cupti.ActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS && lost != 0) CountLost(lost);
  const auto number = static_cast<std::size_t>(buffer - buffers[0]) / kBufferBytes;
  if (number < kBuffers) buffer_is_taken[number].store(false, std::memory_order_release);
}

// Disables CUPTI's records of kernels, copies and fills, and unsubscribes. Call it only while Memoir is subscribed.
void Leave() {
  for (const CUpti_ActivityKind kind : kKinds) cupti.ActivityDisable(kind);
  cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  cupti.ActivityFlushPeriod(0);
  cupti.Unsubscribe(subscriber);
}

// Enables the callbacks, and CUPTI's records of kernels, copies and fills. Returns one line with CUPTI's first error;
// empty on success.
std::string Enable() {
  const auto failed = [](const char* call, CUptiResult result) {
    return result == CUPTI_SUCCESS ? "" : "CUPTI refuses: " + CuptiErrorText(cupti, call, result);
  };
  std::string why = failed("cuptiEnableCallback", EnableLaunchCallbacks(cupti, subscriber));
  if (why.empty())
    why = failed("cuptiActivityRegisterCallbacks", cupti.ActivityRegisterCallbacks(&GiveBuffer, &TakeBuffer));
  if (why.empty()) why = failed("cuptiActivityFlushPeriod", cupti.ActivityFlushPeriod(kFlushMs));
  for (const CUpti_ActivityKind kind : kKinds) {
    if (why.empty()) why = failed("cuptiActivityEnable", cupti.ActivityEnable(kind));
  }
  return why;
}

bool Start() {
  const std::string missing = FindCupti(&cupti);
  if (!missing.empty()) return Refuse(missing), false;
  const CUptiResult result = cupti.Subscribe(&subscriber, &SeeCall, nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED)
    return SetProblem(kBusy), false;
  if (result != CUPTI_SUCCESS)
    return Refuse("CUPTI refuses: " + CuptiErrorText(cupti, "cuptiSubscribe", result)), false;
  const std::string why = Enable();
  if (why.empty()) return true;
  Leave();
  return Refuse(why), false;
}

// Changes this process's phase from `from` to `to`. False, without a change, if the phase is not `from`, or if it is
// the copy of the parent's phase in a forked child.
bool Change(Phase from, Phase to) {
  return owner.load(std::memory_order_acquire) == getpid() && phase.compare_exchange_strong(from, to);
}

// Waits while another thread subscribes to CUPTI or leaves it. The wait is bounded, because a signal handler of the
// program may have interrupted that thread inside of CUPTI and left with a jump (longjmp). The phase then never
// changes.
void WaitForOthers() {
  constexpr std::uint64_t kMaxWaitNs = 5'000'000'000;
  const std::uint64_t begin = MonotonicNs();
  for (Phase now = phase.load(); now == Phase::kStarting || now == Phase::kLeaving; now = phase.load()) {
    if (MonotonicNs() - begin >= kMaxWaitNs) return SetProblem(kHeldByAnother);
    sched_yield();
  }
}

// Unsubscribes from CUPTI, because another profiler needs CUPTI. Called inside of that profiler's call.
void StepAside() {
  if (owner.load(std::memory_order_acquire) != getpid() || memoir_own_work != 0) return;
  WaitForOthers();
  if (!Change(Phase::kOn, Phase::kLeaving)) return;
  const OwnWork own;
  Leave();
  SetProblem(kAside);
  FollowProfilers(nullptr);
  phase.store(Phase::kOff);
}

}  // namespace

void PrepareKernelTimes(std::uint64_t ticks_per_second) {
  ticks_per_ns = static_cast<double>(ticks_per_second) / 1e9;
  recorded.store(false);
  problem.store(nullptr);
  problem_since.store(0);
  dropped.store(0);
  for (std::atomic<bool>& taken : buffer_is_taken) taken.store(false, std::memory_order_relaxed);
  owner.store(getpid(), std::memory_order_release);
  phase.store(Phase::kNone);
}

void RequestKernelTimes() { Change(Phase::kNone, Phase::kAsked); }

void StartKernelTimes() {
  if (!Change(Phase::kAsked, Phase::kStarting)) return;
  const OwnWork own;
  FollowProfilers(&StepAside);
  const bool started = Start();
  recorded.store(started, std::memory_order_release);
  if (!started) FollowProfilers(nullptr);
  phase.store(started ? Phase::kOn : Phase::kOff);
}

void EndKernelTimes() {
  if (owner.load(std::memory_order_acquire) != getpid()) return;
  WaitForOthers();
  if (!Change(Phase::kOn, Phase::kLeaving)) {
    Change(Phase::kAsked, Phase::kNone);
    return;
  }
  const OwnWork own;
  cupti.ActivityFlushAll(0);
  Leave();
  FollowProfilers(nullptr);
  phase.store(Phase::kOff);
}

void FlushKernelTimes() {
  if (owner.load(std::memory_order_acquire) != getpid() || phase.load() != Phase::kOn) return;
  const OwnWork own;
  cupti.ActivityFlushAll(0);
}

bool KernelTimesAreRecorded() { return recorded.load(std::memory_order_acquire); }

std::string KernelTimesProblem(std::uint64_t* since_tick) {
  const char* const why = problem.load(std::memory_order_acquire);
  *since_tick = problem_since.load(std::memory_order_acquire);
  std::string text = why == nullptr ? "" : why;
  if (const std::uint64_t lost = dropped.load(std::memory_order_relaxed); lost != 0)
    text += (text.empty() ? "" : "; ") + std::to_string(lost) + " of CUPTI's records were lost";
  return text;
}

}  // namespace memoir
