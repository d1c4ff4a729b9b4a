// A stand-in for CUPTI, to be preloaded in front of the simulated device, which runs no kernel: each launch, copy and
// fill of a program "runs" for a time that is written to a file, too. Built against CUPTI's own headers, so that the
// compiler compares every function with its declaration.
//
//   STANDIN_CUPTI  words, by commas: busy, older, refuses, late (buffers only when asked for), drops (every fifth
//                  record), unknown (a record of another kind before each)
//   STANDIN_BEHIND  path of the library that has CUDA's runtime and driver
//   STANDIN_LOG    the file: "what correlation nanoseconds symbol" for each record
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#define STANDIN extern "C" __attribute__((visibility("default")))

namespace {

bool IsToldTo(const char* word) {
  const char* words = std::getenv("STANDIN_CUPTI");
  return words != nullptr && std::strstr(words, word) != nullptr;
}

struct State {
  std::mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  std::set<std::pair<int, std::uint32_t>> callbacks;
  std::set<int> kinds;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, used = 0, records = 0;
  std::atomic<std::size_t> dropped{0};
  std::atomic<std::uint32_t> correlation{0};
  std::atomic<std::uint32_t> period{0};
};
State& The() {
  static State& state = *new State;  // threads use it to the very end
  return state;
}

std::uint64_t Now() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::size_t SizeOf(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return sizeof(CUpti_ActivityKernel10);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) return sizeof(CUpti_ActivityMemcpy6);
  return kind == CUPTI_ACTIVITY_KIND_MEMSET ? sizeof(CUpti_ActivityMemset4) : 64;
}

// Gives the buffer back. Without the mutex: the callback may call anything.
void Deliver() {
  std::unique_lock lock(The().mutex);
  std::uint8_t* const buffer = std::exchange(The().buffer, nullptr);
  const std::size_t size = The().size, used = std::exchange(The().used, 0);
  const auto complete = The().complete;
  lock.unlock();
  if (buffer != nullptr && complete != nullptr) complete(nullptr, 0, buffer, size, used);
}

// Room for a record; nullptr: it is dropped.
void* Reserve(CUpti_ActivityKind kind) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::unique_lock lock(The().mutex);
    if (The().buffer == nullptr && The().request != nullptr) {
      std::size_t most = 0;
      The().request(&The().buffer, &The().size, &most);
      The().used = 0;
    }
    if (The().buffer == nullptr) break;
    if (The().size - The().used >= SizeOf(kind)) {
      std::uint8_t* const at = The().buffer + The().used;
      The().used += SizeOf(kind);
      std::memset(at, 0, SizeOf(kind));
      std::memcpy(at, &kind, sizeof kind);
      return at;
    }
    lock.unlock();
    Deliver();
  }
  ++The().dropped;
  return nullptr;
}

template <class Record>
void Add(CUpti_ActivityKind kind, const char* what, std::uint32_t correlation, const char* symbol, Record fill) {
  {
    const std::lock_guard lock(The().mutex);
    if (!The().kinds.contains(kind)) return;
    if (IsToldTo("drops") && ++The().records % 5 == 0) {
      ++The().dropped;
      return;
    }
  }
  if (IsToldTo("unknown")) Reserve(CUPTI_ACTIVITY_KIND_OVERHEAD);
  const std::uint64_t start = The().clock != nullptr ? The().clock() : Now();
  const std::uint64_t ns = 1000 + 10 * (correlation % 97);
  void* const record = Reserve(kind);
  if (record == nullptr) return;
  fill(record, start, start + ns);
  if (const char* path = std::getenv("STANDIN_LOG"); path != nullptr) {
    if (std::FILE* log = std::fopen(path, "a"); log != nullptr) {
      std::fprintf(log, "%s %u %llu %s\n", what, correlation, static_cast<unsigned long long>(ns), symbol);
      std::fclose(log);
    }
  }
}

template <class Record>
void Fill(void* at, std::uint32_t correlation, std::uint64_t start, std::uint64_t end, Record** record) {
  *record = static_cast<Record*>(at);
  (*record)->start = start;
  (*record)->end = end;
  (*record)->streamId = 7;
  (*record)->correlationId = correlation;
}

void AddKernel(std::uint32_t correlation, const char* symbol) {
  Add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernel", correlation, symbol, [&](void* at, auto start, auto end) {
    CUpti_ActivityKernel10* record;
    Fill(at, correlation, start, end, &record);
    record->name = symbol;
  });
}

template <class Function>
Function Next(const char* name) {
  static void* const behind = dlopen(std::getenv("STANDIN_BEHIND"), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function>(dlsym(behind, name));
}

// Work that is captured into a graph does not run.
bool Runs(cudaError_t result, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return result == cudaSuccess && cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status == cudaStreamCaptureStatusNone;
}

// The call, with its callbacks; returns its correlation, too.
template <class Call>
std::pair<cudaError_t, std::uint32_t> Trace(std::uint32_t id, Call call) {
  const std::uint32_t correlation = ++The().correlation;
  CUpti_CallbackData data{};
  data.correlationId = correlation;
  const auto tell = [&](CUpti_ApiCallbackSite site) {
    std::unique_lock lock(The().mutex);
    const auto callback = The().callback;
    void* const userdata = The().userdata;
    const bool wanted = The().callbacks.contains({CUPTI_CB_DOMAIN_RUNTIME_API, id});
    lock.unlock();
    data.callbackSite = site;
    if (callback != nullptr && wanted) callback(userdata, CUPTI_CB_DOMAIN_RUNTIME_API, id, &data);
  };
  tell(CUPTI_API_ENTER);
  const cudaError_t result = call();
  tell(CUPTI_API_EXIT);
  return {result, correlation};
}

}  // namespace

// CUDA's runtime, around the simulated one.

STANDIN cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters, size_t shared,
                                     cudaStream_t stream) {
  const auto [result, correlation] = Trace(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, [&] {
    return Next<decltype(&cudaLaunchKernel)>("cudaLaunchKernel")(function, grid, block, parameters, shared, stream);
  });
  const char* symbol = "";
  if (!Runs(result, stream)) return result;
  cudaFuncGetName(&symbol, function);
  AddKernel(correlation, symbol);
  return result;
}

STANDIN cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters, size_t shared,
                                       cudaStream_t stream) {
  const auto [result, correlation] = Trace(CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, [&] {
    return Next<decltype(&__cudaLaunchKernel)>("__cudaLaunchKernel")(kernel, grid, block, parameters, shared, stream);
  });
  const char* symbol = "";
  if (!Runs(result, stream)) return result;
  Next<decltype(&cuKernelGetName)>("cuKernelGetName")(&symbol, reinterpret_cast<CUkernel>(kernel));
  AddKernel(correlation, symbol);
  return result;
}

STANDIN cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
  const auto [result, correlation] = Trace(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, [&] {
    return Next<decltype(&cudaMemcpyAsync)>("cudaMemcpyAsync")(to, from, bytes, kind, stream);
  });
  if (!Runs(result, stream)) return result;
  Add(CUPTI_ACTIVITY_KIND_MEMCPY, "copy", correlation, "", [&, number = correlation](void* at, auto start, auto end) {
    CUpti_ActivityMemcpy6* record;
    Fill(at, number, start, end, &record);
    record->bytes = bytes;
    record->copyKind = kind == cudaMemcpyHostToDevice   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
                       : kind == cudaMemcpyDeviceToHost ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                                        : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  });
  return result;
}

STANDIN cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  const auto [result, correlation] = Trace(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, [&] {
    return Next<decltype(&cudaMemsetAsync)>("cudaMemsetAsync")(at, value, bytes, stream);
  });
  if (!Runs(result, stream)) return result;
  Add(CUPTI_ACTIVITY_KIND_MEMSET, "fill", correlation, "",
      [&, number = correlation](void* place, auto start, auto end) {
        CUpti_ActivityMemset4* record;
        Fill(place, number, start, end, &record);
        record->bytes = bytes;
      });
  return result;
}

// Each replay runs two kernels, whatever was captured.
STANDIN cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const auto [result, correlation] = Trace(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, [&] {
    return Next<decltype(&cudaGraphLaunch)>("cudaGraphLaunch")(exec, stream);
  });
  AddKernel(correlation, "first_of_graph");
  AddKernel(correlation, "second_of_graph");
  return result;
}

// CUPTI.

STANDIN CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = IsToldTo("older") ? 18 : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES              ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                                                                     : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userdata) {
  const std::lock_guard lock(The().mutex);
  if (IsToldTo("busy") || The().callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  The().callback = callback;
  The().userdata = userdata;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&The());
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  const std::lock_guard lock(The().mutex);
  The().callback = nullptr;
  The().callbacks.clear();
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                        CUpti_CallbackId id) {
  const std::lock_guard lock(The().mutex);
  if (enable != 0) {
    The().callbacks.insert({domain, id});
  } else {
    The().callbacks.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiEnableDomain(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) { return CUPTI_SUCCESS; }

STANDIN CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char** name) {
  *name = "";
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = Now();
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  The().clock = clock;
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                   CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(The().mutex);
  The().request = request;
  The().complete = complete;
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (IsToldTo("refuses")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const std::lock_guard lock(The().mutex);
  The().kinds.insert(kind);
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(The().mutex);
  The().kinds.erase(kind);
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityFlushAll(uint32_t) {
  Deliver();
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityFlushPeriod(uint32_t ms) {
  if (IsToldTo("late")) return CUPTI_SUCCESS;
  const bool first = The().period.exchange(ms) == 0 && ms != 0;
  static std::atomic<bool> started{false};
  if (!first || started.exchange(true)) return CUPTI_SUCCESS;
  std::thread([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (The().period != 0) Deliver();
    }
  }).detach();
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  std::uint8_t* at = buffer;
  if (*record != nullptr) at = reinterpret_cast<std::uint8_t*>(*record) + SizeOf((*record)->kind);
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = The().dropped.exchange(0);
  return CUPTI_SUCCESS;
}

STANDIN CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t) {
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t* id) {
  if (id != nullptr) *id = 0;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) { return CUPTI_SUCCESS; }
STANDIN CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return CUPTI_SUCCESS; }
STANDIN CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) { return CUPTI_SUCCESS; }
STANDIN CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t) { return CUPTI_SUCCESS; }
STANDIN CUptiResult cuptiFinalize() { return CUPTI_SUCCESS; }
