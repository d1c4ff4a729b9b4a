// NCCL: communicators of any size without peers. Every other rank is taken to hold what this one holds, so that small
// collectives (sizes, flags, objects) give this rank's own bytes; large ones write nothing.
//
// Buffers that NCCL itself would take from the device are not charged.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/handles.h"
#include "interpose/simcuda/machine.h"

using memoir::simcuda::In;
using memoir::simcuda::TheMachine;

namespace {

constexpr std::size_t kSmall = 64 << 10;  // bytes of one rank's part

struct Communicator {
  int ranks, rank, device;
};

ncclResult_t NewCommunicator(ncclComm_t* communicator, int ranks, int rank) {
  if (ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  *communicator = static_cast<ncclComm_t>(memoir::simcuda::NewHandle());
  In<Communicator>(*communicator) = {ranks, rank, memoir::simcuda::CurrentDevice()};
  return ncclSuccess;
}

std::size_t BytesOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    default:
      return 8;
  }
}

void CopySmall(void* to, const void* from, std::size_t bytes) {
  if (to == nullptr || from == nullptr) return;  // a rank that only gives, or only takes
  if (bytes <= kSmall) TheMachine().contents().Copy(to, from, bytes);
}

}  // namespace

SIMULATED ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

SIMULATED const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "simulated NCCL error";
}
SIMULATED const char* ncclGetLastError(ncclComm_t) { return ""; }

SIMULATED ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> made{0};
  *id = ncclUniqueId();
  const int words[2] = {getpid(), ++made};
  std::memcpy(id->internal, words, sizeof words);
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId, int rank) {
  return NewCommunicator(communicator, ranks, rank);
}

SIMULATED ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId, int rank,
                                              ncclConfig_t*) {
  return NewCommunicator(communicator, ranks, rank);
}

SIMULATED ncclResult_t ncclCommInitRankScalable(ncclComm_t* communicator, int ranks, int rank, int, ncclUniqueId*,
                                                ncclConfig_t*) {
  return NewCommunicator(communicator, ranks, rank);
}

SIMULATED ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int ranks, const int* devices) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (const auto result = NewCommunicator(&communicators[rank], ranks, rank); result != ncclSuccess) return result;
    In<Communicator>(communicators[rank]).device = devices == nullptr ? rank : devices[rank];
  }
  return ncclSuccess;
}

// Which of the other ranks took the same colour is not known here: all of them, as far as this rank can tell.
SIMULATED ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int, ncclComm_t* communicator, ncclConfig_t*) {
  *communicator = nullptr;
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  const Communicator& from = In<Communicator>(parent);
  return NewCommunicator(communicator, from.ranks, from.rank);
}

SIMULATED ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  memoir::simcuda::FreeHandle(communicator);
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommAbort(ncclComm_t communicator) { return ncclCommDestroy(communicator); }

SIMULATED ncclResult_t ncclCommCount(ncclComm_t communicator, int* ranks) {
  *ranks = In<Communicator>(communicator).ranks;
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommUserRank(ncclComm_t communicator, int* rank) {
  *rank = In<Communicator>(communicator).rank;
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommCuDevice(ncclComm_t communicator, int* device) {
  *device = In<Communicator>(communicator).device;
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclMemAlloc(void** pointer, std::size_t bytes) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

SIMULATED ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

SIMULATED ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                                     ncclComm_t, cudaStream_t) {
  CopySmall(to, from, count * BytesOf(type));
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int,
                                     ncclComm_t, cudaStream_t) {
  CopySmall(to, from, count * BytesOf(type));
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t, int,
                                  ncclComm_t, cudaStream_t) {
  CopySmall(to, from, count * BytesOf(type));
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                     ncclComm_t communicator, cudaStream_t) {
  const std::size_t bytes = count * BytesOf(type);
  const auto ranks = static_cast<std::size_t>(In<Communicator>(communicator).ranks);
  for (std::size_t rank = 0; rank < ranks && bytes <= kSmall; ++rank)
    CopySmall(static_cast<char*>(to) + rank * bytes, from, bytes);
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                         ncclRedOp_t, ncclComm_t communicator, cudaStream_t) {
  const std::size_t bytes = count * BytesOf(type);
  const auto rank = static_cast<std::size_t>(In<Communicator>(communicator).rank);
  CopySmall(to, static_cast<const char*>(from) + rank * bytes, bytes);
  return ncclSuccess;
}

// Of NCCL's headers for code on the device, which need nvcc.
SIMULATED ncclResult_t ncclDevCommCreate(ncclComm_t, const void*, void*) { return ncclInvalidUsage; }
SIMULATED ncclResult_t ncclDevCommDestroy(ncclComm_t, const void*) { return ncclSuccess; }
