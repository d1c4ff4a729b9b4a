// Records failures of calls of NVIDIA's libraries that need device memory: calls that create communicators, handles and
// plans. If such a call succeeds, nothing is recorded here: the library allocates through other calls, which are
// recorded with the library's name.
#include <cstdint>
#include <cstring>

#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/driver_records.h"
#include "interpose/cuda/simulated_libraries.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// The library to which a function belongs, by the prefix of the function's name. On the simulated device
// libmemoir_simcuda.so defines all these functions, so its name would be misleading.
constexpr struct {
  const char* prefix;
  const char* library;
} kLibraries[] = {{"nccl", "libnccl.so.2"}, {"cublasLt", "libcublasLt.so"}, {"cublas", "libcublas.so"},
                  {"cudnn", "libcudnn.so"}, {"cusolver", "libcusolver.so"}, {"cusparse", "libcusparse.so"},
                  {"cufft", "libcufft.so"}};

// Returns the library that defines the called function: this library, not its caller, could not allocate memory.
LibraryName LibraryOf(const CallSite& called) {
  const LibraryName found = LibraryAt(called.function);
  if (std::strncmp(found.text, "libmemoir_", 10) != 0) return found;
  for (const auto& known : kLibraries) {
    if (std::strncmp(called.name, known.prefix, std::strlen(known.prefix)) == 0) return LibraryNamed(known.library);
  }
  return found;
}

void RecordRefusal(const CallSite& called, DriverCall call, int result) {
  const ErrnoKeeper errno_keeper;
  const int device = DeviceOfContext();
  const std::uint64_t bytes = TakeRefusedOfLibraries();
  RecordDriverRefusal(
      {call, device < 0 ? 0 : device, bytes, SampleAfterRefusal(device), static_cast<std::uint32_t>(result)},
      LibraryOf(called));
}

// Makes the call. First discards the refused bytes of earlier calls, so that RecordRefusal records only bytes that this
// call was refused. Only the simulated device reports refused bytes.
template <class... A>
int MakeCall(int (*original)(A...), A... arguments) {
  TakeRefusedOfLibraries();
  return original(arguments...);
}

// Whether NCCL's result may mean that the device has too little memory. ncclInvalidArgument and ncclInvalidUsage are
// errors of the program, and ncclInProgress is not an error.
bool IsRefusedByNccl(int result) { return result == 1 || result == 2 || result == 3 || result == 6; }

// Wraps a call of NCCL.
template <class... A>
int Communicate(const CallSite& called, int (*original)(A...), A... arguments) {
  const int result = MakeCall(original, arguments...);
  if (IsRefusedByNccl(result)) RecordRefusal(called, DriverCall::kCommunicator, result);
  return result;
}

// Wraps a call that creates a handle. Every failure of the call is recorded.
template <class... A>
int Handle(const CallSite& called, int (*original)(A...), A... arguments) {
  const int result = MakeCall(original, arguments...);
  if (result != 0) RecordRefusal(called, DriverCall::kHandle, result);
  return result;
}

// Wraps a call of cuFFT that creates a plan. Only CUFFT_ALLOC_FAILED and the internal error that may follow from it are
// refusals. An invalid size is an error of the program.
template <class... A>
int Plan(const CallSite& called, int (*original)(A...), A... arguments) {
  const int result = MakeCall(original, arguments...);
  constexpr int kAllocationFailed = 2, kInternalError = 5;
  if (result == kAllocationFailed || result == kInternalError) RecordRefusal(called, DriverCall::kHandle, result);
  return result;
}

struct NcclId {  // ncclUniqueId: passed by value
  char bytes[128];
};
using Pointer = void*;
using Long = long long;
using Size = std::size_t;

constexpr WrappedCall kCalls[] = {
    Wrapped<"ncclCommInitRank", &Communicate<Pointer, int, NcclId, int>>(),
    Wrapped<"ncclCommInitRankConfig", &Communicate<Pointer, int, NcclId, int, Pointer>>(),
    Wrapped<"ncclCommInitRankScalable", &Communicate<Pointer, int, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclCommInitAll", &Communicate<Pointer, int, Pointer>>(),
    Wrapped<"ncclCommSplit", &Communicate<Pointer, int, int, Pointer, Pointer>>(),
    // A communicator takes most of its memory at its first use, which may be any of the calls below.
    Wrapped<"ncclGroupEnd", &Communicate<>>(),
    Wrapped<"ncclAllReduce", &Communicate<Pointer, Pointer, Size, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclReduceScatter", &Communicate<Pointer, Pointer, Size, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclAllGather", &Communicate<Pointer, Pointer, Size, int, Pointer, Pointer>>(),
    Wrapped<"ncclBroadcast", &Communicate<Pointer, Pointer, Size, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclBcast", &Communicate<Pointer, Size, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclReduce", &Communicate<Pointer, Pointer, Size, int, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclSend", &Communicate<Pointer, Size, int, int, Pointer, Pointer>>(),
    Wrapped<"ncclRecv", &Communicate<Pointer, Size, int, int, Pointer, Pointer>>(),
    Wrapped<"cublasCreate_v2", &Handle<Pointer>>(),
    Wrapped<"cublasLtCreate", &Handle<Pointer>>(),
    Wrapped<"cudnnCreate", &Handle<Pointer>>(),
    Wrapped<"cusolverDnCreate", &Handle<Pointer>>(),
    Wrapped<"cusparseCreate", &Handle<Pointer>>(),
    Wrapped<"cufftPlan1d", &Plan<Pointer, int, int, int>>(),
    Wrapped<"cufftPlan2d", &Plan<Pointer, int, int, int>>(),
    Wrapped<"cufftPlan3d", &Plan<Pointer, int, int, int, int>>(),
    Wrapped<"cufftPlanMany", &Plan<Pointer, int, Pointer, Pointer, int, int, Pointer, int, int, int, int>>(),
    Wrapped<"cufftMakePlanMany", &Plan<int, int, Pointer, Pointer, int, int, Pointer, int, int, int, int, Pointer>>(),
    Wrapped<"cufftMakePlanMany64",
            &Plan<int, int, Pointer, Pointer, Long, Long, Pointer, Long, Long, int, Long, Pointer>>(),
    Wrapped<"cufftXtMakePlanMany",
            &Plan<int, int, Pointer, Pointer, Long, Long, int, Pointer, Long, Long, int, Long, Pointer, int>>(),
};

}  // namespace

std::span<const WrappedCall> RefusableCalls() { return kCalls; }

}  // namespace memoir
