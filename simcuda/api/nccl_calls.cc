// NCCL's collectives, sends and receives. Small calls move real bytes (simcuda/collectives/communicator.h). Large
// calls, and calls in a captured stream, move no bytes, and no rank waits for another.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "simcuda/api/exported.h"
#include "simcuda/api/nccl_group.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"
#include "simcuda/process/simulation_message.h"
#include "simcuda/streams/graph_capture.h"
#include "simcuda/streams/streams.h"

using memoir::simcuda::Communicator;
using memoir::simcuda::ElementType;
using memoir::simcuda::FindCommunicator;
using memoir::simcuda::kAllRanks;
using memoir::simcuda::kNoRank;
using memoir::simcuda::MessageBoard;
using memoir::simcuda::NcclCall;
using memoir::simcuda::RankParts;
using memoir::simcuda::ReduceOperation;
using memoir::simcuda::TheMachine;

namespace {

// The size in bytes of the largest result for which bytes are moved. In addition, the part of each rank must have at
// most MessageBoard::kMostBytes.
constexpr std::size_t kLargestResult = 16u << 20;

std::size_t BytesOf(ncclDataType_t type) { return memoir::simcuda::BytesOf(static_cast<ElementType>(type)); }

// Operations that programs created; their numbers begin at ncclNumOps.
struct Operations {
  memoir::simcuda::Mutex mutex;
  std::map<int, ReduceOperation> made;
};

constinit memoir::simcuda::LazyObject<Operations> operations;

Operations& TheOperations() { return operations.Get(); }

bool FindOperation(ncclRedOp_t number, ReduceOperation& operation) {
  if (static_cast<int>(number) < memoir::simcuda::kReductions) {
    operation.reduction = static_cast<memoir::simcuda::Reduction>(number);
    return number >= 0;
  }
  const std::lock_guard lock(TheOperations().mutex);
  const auto found = TheOperations().made.find(static_cast<int>(number));
  if (found != TheOperations().made.end()) operation = found->second;
  return found != TheOperations().made.end();
}

void Read(char* room, const void* from, std::size_t bytes) { TheMachine().contents().Copy(room, from, bytes); }

// Marks the result of a call that moves no bytes as unknown. The program reads zeros there.
void MarkUnknown(void* to, std::size_t bytes) {
  TheMachine().contents().MarkUnknown(reinterpret_cast<std::uint64_t>(to), bytes);
}

// Zeros are not stored, because unwritten device memory reads as zero.
void Write(void* to, const char* bytes, std::size_t count) {
  if (std::all_of(bytes, bytes + count, [](char byte) { return byte == 0; })) {
    TheMachine().contents().Fill(to, 0, count);
  } else {
    TheMachine().contents().Copy(to, bytes, count);
  }
}

// The buffers of one call: its input at `from`, its result at `to`, and the number and type of elements.
struct Place {
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclComm_t handle;
  cudaStream_t stream;

  std::size_t bytes() const { return count * BytesOf(type); }
};

constexpr int kCollective = -1;  // passed for a collective, in place of a peer's rank

// Charges the buffers that NCCL takes for the call. False if the card has too little memory.
bool ChargeBuffers(Communicator& communicator, int peer) {
  const auto& configuration = TheMachine().configuration();
  auto& device = TheMachine().device(communicator.device());
  std::string error;
  if (peer == kCollective) {
    error = communicator.buffers().ForCollective(device, configuration.profile, communicator.ranks());
  } else if (peer != communicator.rank()) {
    error = communicator.buffers().ForPeer(device, configuration.profile, peer, configuration.devices - 1);
  }
  if (error.empty()) return true;
  memoir::simcuda::PrintMessage(error);
  memoir::simcuda::SetLastNcclError(error);
  return false;
}

// Prepares a call that sends `gives` bytes from place.from and sets `result` bytes at place.to. False if no bytes move:
// on an error, in a captured stream, or if the call is too large.
bool Begin(const Place& place, const char* name, std::size_t gives, std::size_t result, NcclCall& call,
           ncclResult_t* error, int peer = kCollective) {
  *error = ncclSuccess;
  call.communicator = FindCommunicator(place.handle);
  auto* const stream = memoir::simcuda::FindStream(place.stream);
  if (call.communicator == nullptr || stream == nullptr || place.type < 0 || place.type >= memoir::simcuda::kElements) {
    *error = ncclInvalidArgument;
    return false;
  }
  if (!ChargeBuffers(*call.communicator, peer)) {
    *error = ncclUnhandledCudaError;
    return false;
  }
  if (memoir::simcuda::AddNode(*stream)) {
    if (place.to != nullptr) NoteWrite(*stream, {reinterpret_cast<std::uint64_t>(place.to), result});
    return false;
  }
  TheMachine().progress().Queue(stream->number());
  if (gives > MessageBoard::kMostBytes || result > kLargestResult) {
    if (place.to != nullptr && place.to != place.from) MarkUnknown(place.to, result);
    return false;
  }
  call.name = name;
  call.gives = gives;
  call.takes = gives;
  call.give = [place, gives](char* room) { Read(room, place.from, gives); };
  return true;
}

ncclResult_t End(NcclCall call) { return memoir::simcuda::Submit(std::move(call)) ? ncclSuccess : ncclRemoteError; }

// Writes the slices of all ranks, `bytes` each, one after the other. `slice`: index of the slice to take from each
// rank's part.
void WriteSlices(void* to, const RankParts& parts, std::size_t bytes, std::size_t slice) {
  for (std::size_t rank = 0; rank < parts.ranks(); ++rank) {
    if (parts[rank] == nullptr) continue;
    Write(static_cast<char*>(to) + rank * bytes, parts[rank] + slice * bytes, bytes);
  }
}

std::size_t Ranks(ncclComm_t handle) {
  const auto found = FindCommunicator(handle);
  return found == nullptr ? 1 : static_cast<std::size_t>(found->ranks());
}

// The slices of a call in which each rank sends one slice to every rank. `given`: the number of slices that this rank
// sends. `own`: the index, in each rank's part, of the slice for this rank.
struct Slices {
  std::size_t given, own;
};

// A rank without peers (communicator.h) sends only the slice for itself, because all ranks are assumed to have the same
// part. So the call stays small even in a world of thousands of ranks.
Slices SlicesOf(Place& place) {
  const auto found = FindCommunicator(place.handle);
  if (found == nullptr) return {1, 0};
  const auto rank = static_cast<std::size_t>(found->rank());
  if (found->has_peers()) return {static_cast<std::size_t>(found->ranks()), rank};
  place.from = static_cast<const char*>(place.from) + rank * place.bytes();
  return {1, 0};
}

// Reduces slice number `slice` of all parts, and writes the result.
void WriteReduced(const Place& place, const ReduceOperation& operation, const RankParts& parts, std::size_t slice) {
  std::vector<char> out(place.bytes());
  if (parts.ranks() == 0 || parts[0] == nullptr) return;
  memoir::simcuda::Reduce(parts, slice * place.bytes(), static_cast<ElementType>(place.type), place.count, operation,
                          out.data());
  Write(place.to, out.data(), out.size());
}

}  // namespace

SIMULATED ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* number, void* scalar, ncclDataType_t type,
                                                ncclScalarResidence_t, ncclComm_t) {
  if (type < 0 || type >= memoir::simcuda::kElements || scalar == nullptr) return ncclInvalidArgument;
  char value[8];
  Read(value, scalar, BytesOf(type));
  const ReduceOperation operation{.scaled = true,
                                  .scale = memoir::simcuda::ReadElement(value, static_cast<ElementType>(type))};
  const std::lock_guard lock(TheOperations().mutex);
  int next = ncclNumOps;
  while (TheOperations().made.contains(next)) ++next;
  TheOperations().made[next] = operation;
  *number = static_cast<ncclRedOp_t>(next);
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclRedOpDestroy(ncclRedOp_t number, ncclComm_t) {
  const std::lock_guard lock(TheOperations().mutex);
  return TheOperations().made.erase(static_cast<int>(number)) > 0 ? ncclSuccess : ncclInvalidArgument;
}

SIMULATED ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                     ncclRedOp_t number, ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, to, count, type, communicator, stream};
  NcclCall call;
  ReduceOperation operation;
  ncclResult_t error = ncclSuccess;
  if (!FindOperation(number, operation)) return ncclInvalidArgument;
  if (!Begin(place, "ncclAllReduce", place.bytes(), place.bytes(), call, &error)) return error;
  call.needs = kAllRanks;
  call.finish = [=](const RankParts& parts) { WriteReduced(place, operation, parts, 0); };
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                  ncclRedOp_t number, int root, ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, to, count, type, communicator, stream};
  NcclCall call;
  ReduceOperation operation;
  ncclResult_t error = ncclSuccess;
  if (!FindOperation(number, operation)) return ncclInvalidArgument;
  if (!Begin(place, "ncclReduce", place.bytes(), place.bytes(), call, &error)) return error;
  if (call.communicator->rank() == root) {
    call.needs = kAllRanks;
    call.finish = [=](const RankParts& parts) { WriteReduced(place, operation, parts, 0); };
  }
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                                     ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, to, count, type, communicator, stream};
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  if (!Begin(place, "ncclBroadcast", place.bytes(), place.bytes(), call, &error)) return error;
  const int rank = call.communicator->rank(), ranks = call.communicator->ranks();
  if (root < 0 || root >= ranks) return ncclInvalidArgument;
  call.needs = rank == root ? kNoRank : root;
  if (rank != root && call.communicator->has_peers()) call.gives = 0;
  // If this rank has no peers and is not the root, the root is assumed to have the contents of this rank's buffer.
  if (rank != root && !call.communicator->has_peers() && from == nullptr) call.gives = 0;
  call.finish = [=](const RankParts& parts) {
    if (rank == root) {
      if (to != from) TheMachine().contents().Copy(to, from, place.bytes());
    } else if (const char* part = parts[static_cast<std::size_t>(root)]; part != nullptr) {
      Write(to, part, place.bytes());
    }
  };
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                                 ncclComm_t communicator, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}

SIMULATED ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                     ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, to, count, type, communicator, stream};
  const std::size_t bytes = place.bytes();
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  if (!Begin(place, "ncclAllGather", bytes, bytes * Ranks(communicator), call, &error)) return error;
  call.needs = kAllRanks;
  call.finish = [=](const RankParts& parts) { WriteSlices(to, parts, bytes, 0); };
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                         ncclRedOp_t number, ncclComm_t communicator, cudaStream_t stream) {
  Place place{from, to, count, type, communicator, stream};
  NcclCall call;
  ReduceOperation operation;
  ncclResult_t error = ncclSuccess;
  if (!FindOperation(number, operation)) return ncclInvalidArgument;
  const Slices slices = SlicesOf(place);
  if (!Begin(place, "ncclReduceScatter", place.bytes() * slices.given, place.bytes(), call, &error)) return error;
  const std::size_t slice = slices.own;
  call.needs = kAllRanks;
  call.finish = [=](const RankParts& parts) { WriteReduced(place, operation, parts, slice); };
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclAlltoAll(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                    ncclComm_t communicator, cudaStream_t stream) {
  Place place{from, to, count, type, communicator, stream};
  const std::size_t bytes = place.bytes();
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  const Slices slices = SlicesOf(place);
  if (!Begin(place, "ncclAlltoAll", bytes * slices.given, bytes * Ranks(communicator), call, &error)) return error;
  const std::size_t slice = slices.own;
  call.needs = kAllRanks;
  call.finish = [=](const RankParts& parts) { WriteSlices(to, parts, bytes, slice); };
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclGather(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                                  ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, to, count, type, communicator, stream};
  const std::size_t bytes = place.bytes();
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  if (!Begin(place, "ncclGather", bytes, bytes * Ranks(communicator), call, &error)) return error;
  if (call.communicator->rank() == root) {
    call.needs = kAllRanks;
    call.finish = [=](const RankParts& parts) { WriteSlices(to, parts, bytes, 0); };
  }
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                                   ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, to, count, type, communicator, stream};
  const std::size_t bytes = place.bytes(), all = bytes * Ranks(communicator);
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  if (!Begin(place, "ncclScatter", all, bytes, call, &error)) return error;
  const auto slice = static_cast<std::size_t>(call.communicator->rank());
  if (call.communicator->rank() != root) call.gives = 0;
  call.needs = root;
  call.finish = [=](const RankParts& parts) {
    if (const char* part = parts[static_cast<std::size_t>(root)]; part != nullptr)
      Write(to, part + slice * bytes, bytes);
  };
  return End(std::move(call));
}

SIMULATED ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                                ncclComm_t communicator, cudaStream_t stream) {
  const Place place{from, nullptr, count, type, communicator, stream};
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  if (!Begin(place, "ncclSend", place.bytes(), 0, call, &error, peer)) return error;
  if (peer < 0 || peer >= call.communicator->ranks()) return ncclInvalidArgument;
  call.kind = NcclCall::Kind::kSend;
  call.peer = peer;
  return End(std::move(call));
}

// A rank without peers receives one of the messages that it sends in the same group (CompleteAlone in communicator.cc).
// Zeros if it sends no message of this size.
SIMULATED ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                                cudaStream_t stream) {
  const Place place{nullptr, to, count, type, communicator, stream};
  NcclCall call;
  ncclResult_t error = ncclSuccess;
  if (!Begin(place, "ncclRecv", place.bytes(), place.bytes(), call, &error, peer)) return error;
  if (peer < 0 || peer >= call.communicator->ranks()) return ncclInvalidArgument;
  call.kind = NcclCall::Kind::kReceive;
  call.peer = peer;
  call.gives = 0;
  call.finish = [=](const RankParts& parts) {
    if (parts[0] == nullptr) {
      MarkUnknown(to, place.bytes());
    } else {
      Write(to, parts[0], place.bytes());
    }
  };
  return End(std::move(call));
}
