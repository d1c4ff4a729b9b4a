// NCCL: creates and destroys communicators. nccl_calls.cc has the calls that use them.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "simcuda/api/exported.h"
#include "simcuda/api/nccl_group.h"
#include "simcuda/api/simulation_queries.h"
#include "simcuda/configuration/visible_devices.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/simulation_message.h"

using memoir::simcuda::Communicator;
using memoir::simcuda::CurrentDevice;
using memoir::simcuda::FindCommunicator;
using memoir::simcuda::Invitation;
using memoir::simcuda::NcclCall;
using memoir::simcuda::RankParts;
using memoir::simcuda::TheMachine;

namespace {

static_assert(sizeof(Invitation) <= sizeof(ncclUniqueId));

int WholeNumber(std::string_view text, int otherwise) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the number of this process's machine, from the variables of launchers. Launchers may count one real machine
// as several.
int Node() {
  for (const char* name : {"GROUP_RANK", "SLURM_NODEID"}) {
    if (const int node = WholeNumber(Variable(name), -1); node >= 0) return node;
  }
  return 0;
}

Invitation InvitationIn(const ncclUniqueId& id) {
  Invitation invitation;
  std::memcpy(&invitation, id.internal, sizeof invitation);
  return invitation;
}

// Joins the other ranks of a new communicator. Inside a group of calls, waits for these ranks only at the group's end.
ncclResult_t Meet(const std::shared_ptr<Communicator>& made, const Invitation& invitation) {
  NcclCall join;
  join.communicator = made;
  const std::string wrong = made->Meet(invitation, memoir::simcuda::PhysicalDevice(made->device()), Node(), &join);
  if (!wrong.empty()) {
    const std::string line = "rank " + std::to_string(made->rank()) + " of " + std::to_string(made->ranks()) +
                             " cannot join its communicator: " + wrong;
    memoir::simcuda::PrintMessage(line);
    memoir::simcuda::SetLastNcclError(line);
    return ncclSystemError;
  }
  return memoir::simcuda::Submit(std::move(join)) ? ncclSuccess : ncclInvalidUsage;
}

bool StandsForAll(int ranks) { return ranks == 1 || TheMachine().configuration().world > 0; }

ncclResult_t NewCommunicator(ncclComm_t* communicator, int ranks, int rank, const Invitation& invitation) {
  *communicator = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  if (TheMachine().devices() == 0) return ncclUnhandledCudaError;
  auto made = std::make_shared<Communicator>(ranks, rank, CurrentDevice());
  if (!StandsForAll(ranks)) {
    if (const ncclResult_t result = Meet(made, invitation); result != ncclSuccess) return result;
  }
  const std::string refused =
      made->buffers().ForItself(TheMachine().device(made->device()), TheMachine().configuration().handle);
  if (!refused.empty()) {
    memoir::simcuda::PrintMessage(refused);
    memoir::simcuda::SetLastNcclError(refused);
    return ncclUnhandledCudaError;
  }
  *communicator = memoir::simcuda::AddCommunicator(std::move(made));
  return ncclSuccess;
}

// Exchanges one value between all ranks of a communicator: sends `mine`, and stores the value of each rank in `all`.
// Exchanges immediately, also inside a group of calls. False on an error.
template <typename T>
bool Exchange(const std::shared_ptr<Communicator>& communicator, const T& mine, const char* name, std::vector<T>& all) {
  all.assign(static_cast<std::size_t>(communicator->ranks()), T());
  std::vector<NcclCall> calls(1);
  NcclCall& call = calls.front();
  call.communicator = communicator;
  call.name = name;
  call.gives = call.takes = sizeof(T);
  call.needs = memoir::simcuda::kAllRanks;
  call.give = [&](char* room) { std::memcpy(room, &mine, sizeof mine); };
  call.finish = [&](const RankParts& parts) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) std::memcpy(&all[rank], parts[rank], sizeof(T));
  };
  communicator->Enqueue(call);
  const std::string error = memoir::simcuda::CompleteCalls(calls, TheMachine().configuration().patience_seconds);
  if (!error.empty()) memoir::simcuda::SetLastNcclError(error);
  return error.empty();
}

struct Choice {
  int color = NCCL_SPLIT_NOCOLOR, key = 0, rank = 0;

  bool operator<(const Choice& other) const { return key != other.key ? key < other.key : rank < other.rank; }
};

// Creates a communicator of `members`, a part of the parent's ranks in their new order. The first member creates the
// shared memory.
ncclResult_t NewPart(const std::shared_ptr<Communicator>& parent, const std::vector<Choice>& members, const char* name,
                     ncclComm_t* communicator) {
  const bool invites = !members.empty() && members.front().rank == parent->rank() && members.size() > 1;
  const Invitation own = invites ? memoir::simcuda::Invite() : Invitation();
  std::vector<Invitation> invitations;
  if (!Exchange(parent, own, name, invitations)) return ncclRemoteError;
  const auto self = std::ranges::find(members, parent->rank(), &Choice::rank);
  if (self == members.end()) return ncclSuccess;
  return NewCommunicator(communicator, static_cast<int>(members.size()), static_cast<int>(self - members.begin()),
                         invitations[static_cast<std::size_t>(members.front().rank)]);
}

}  // namespace

SIMULATED ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

SIMULATED const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess       ? "no error"
         : result == ncclRemoteError ? "remote process exited or there was a network error"
                                     : "simulated NCCL error";
}
SIMULATED const char* ncclGetLastError(ncclComm_t) { return memoir::simcuda::LastNcclError(); }

SIMULATED ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = ncclUniqueId();
  Invitation invitation;
  if (TheMachine().configuration().world == 0) {
    invitation = memoir::simcuda::Invite();
    if (invitation.file < 0) return ncclSystemError;
  }
  std::memcpy(id->internal, &invitation, sizeof invitation);
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  return NewCommunicator(communicator, ranks, rank, InvitationIn(id));
}

SIMULATED ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                              ncclConfig_t*) {
  return NewCommunicator(communicator, ranks, rank, InvitationIn(id));
}

SIMULATED ncclResult_t ncclCommInitRankScalable(ncclComm_t* communicator, int ranks, int rank, int count,
                                                ncclUniqueId* ids, ncclConfig_t*) {
  if (count < 1) return ncclInvalidArgument;
  return NewCommunicator(communicator, ranks, rank, InvitationIn(ids[0]));
}

// Creates all ranks of a communicator in this process, with one device for each rank.
SIMULATED ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int ranks, const int* devices) {
  if (ranks < 1 || ranks > memoir::simcuda::MessageBoard::kMostRanks) return ncclInvalidArgument;
  const Invitation invitation = memoir::simcuda::Invite();
  memoir::simcuda::BeginGroup();
  ncclResult_t result = ncclSuccess;
  for (int rank = 0; rank < ranks && result == ncclSuccess; ++rank) {
    auto made = std::make_shared<Communicator>(ranks, rank, devices == nullptr ? rank : devices[rank]);
    if (!TheMachine().IsDevice(made->device())) result = ncclInvalidArgument;
    if (result == ncclSuccess && ranks > 1) result = Meet(made, invitation);
    communicators[rank] = memoir::simcuda::AddCommunicator(std::move(made));
  }
  const bool met = memoir::simcuda::EndGroup(result == ncclSuccess);
  return result == ncclSuccess && !met ? ncclInvalidUsage : result;
}

// If this rank runs without the other ranks, it cannot count how many of them pass `color`. The caller may have set the
// number before (memoir_simulated_split). Without the number, this rank becomes the last rank of the new communicator,
// with the rank `key`.
SIMULATED ncclResult_t ncclCommSplit(ncclComm_t handle, int color, int key, ncclComm_t* communicator, ncclConfig_t*) {
  *communicator = nullptr;
  const auto parent = FindCommunicator(handle);
  if (parent == nullptr) return ncclInvalidArgument;
  if (!parent->has_peers()) {
    if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
    int known = memoir_simulated_split_size(color);
    if (known == 0) known = memoir_simulated_split_size(-1);
    const int place = std::max(key, 0);
    return NewCommunicator(communicator, known > place ? known : place + 1, place, Invitation());
  }
  std::vector<Choice> choices, members;
  if (!Exchange(parent, Choice{color, key, parent->rank()}, "ncclCommSplit", choices)) return ncclRemoteError;
  std::ranges::copy_if(choices, std::back_inserter(members),
                       [&](const Choice& choice) { return color != NCCL_SPLIT_NOCOLOR && choice.color == color; });
  std::sort(members.begin(), members.end());
  return NewPart(parent, members, "ncclCommSplit", communicator);
}

// Excluded ranks do not call ncclCommShrink, so the other ranks exchange the invitation by sends and receives, not by a
// collective.
SIMULATED ncclResult_t ncclCommShrink(ncclComm_t handle, int* excluded, int count, ncclComm_t* communicator,
                                      ncclConfig_t*, int) {
  *communicator = nullptr;
  const auto parent = FindCommunicator(handle);
  if (parent == nullptr) return ncclInvalidArgument;
  std::vector<int> left;
  for (int rank = 0; rank < parent->ranks(); ++rank) {
    if (std::find(excluded, excluded + count, rank) == excluded + count) left.push_back(rank);
  }
  const auto self = std::ranges::find(left, parent->rank());
  if (self == left.end()) return ncclInvalidArgument;
  const auto ranks = static_cast<int>(left.size()), rank = static_cast<int>(self - left.begin());
  Invitation invitation;
  if (parent->has_peers() && ranks > 1) {
    std::vector<NcclCall> calls;
    const bool invites = rank == 0;
    if (invites) invitation = memoir::simcuda::Invite();
    for (const int peer : left) {
      if (peer == parent->rank() || (!invites && peer != left.front())) continue;
      NcclCall call;
      call.communicator = parent;
      call.kind = invites ? NcclCall::Kind::kSend : NcclCall::Kind::kReceive;
      call.name = "ncclCommShrink";
      call.peer = peer;
      call.gives = call.takes = sizeof invitation;
      call.give = [&](char* room) { std::memcpy(room, &invitation, sizeof invitation); };
      call.finish = [&](const RankParts& parts) { std::memcpy(&invitation, parts[0], sizeof invitation); };
      parent->Enqueue(call);
      calls.push_back(std::move(call));
    }
    if (!CompleteCalls(calls, TheMachine().configuration().patience_seconds).empty()) return ncclRemoteError;
  }
  return NewCommunicator(communicator, ranks, rank, invitation);
}

SIMULATED ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  return memoir::simcuda::RemoveCommunicator(communicator) ? ncclSuccess : ncclInvalidArgument;
}

SIMULATED ncclResult_t ncclCommAbort(ncclComm_t communicator) { return ncclCommDestroy(communicator); }

SIMULATED ncclResult_t ncclCommRevoke(ncclComm_t communicator, int) {
  const auto found = FindCommunicator(communicator);
  if (found == nullptr) return ncclInvalidArgument;
  found->Abort();
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclCommCount(ncclComm_t communicator, int* ranks) {
  const auto found = FindCommunicator(communicator);
  *ranks = found == nullptr ? 0 : found->ranks();
  return found == nullptr ? ncclInvalidArgument : ncclSuccess;
}

SIMULATED ncclResult_t ncclCommUserRank(ncclComm_t communicator, int* rank) {
  const auto found = FindCommunicator(communicator);
  *rank = found == nullptr ? -1 : found->rank();
  return found == nullptr ? ncclInvalidArgument : ncclSuccess;
}

SIMULATED ncclResult_t ncclCommCuDevice(ncclComm_t communicator, int* device) {
  const auto found = FindCommunicator(communicator);
  *device = found == nullptr ? -1 : found->device();
  return found == nullptr ? ncclInvalidArgument : ncclSuccess;
}

SIMULATED ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  const auto found = FindCommunicator(communicator);
  *error = found != nullptr && !found->error().empty() ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclMemAlloc(void** pointer, std::size_t bytes) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

SIMULATED ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

SIMULATED ncclResult_t ncclGroupStart() {
  memoir::simcuda::BeginGroup();
  return ncclSuccess;
}

SIMULATED ncclResult_t ncclGroupEnd() { return memoir::simcuda::EndGroup(true) ? ncclSuccess : ncclRemoteError; }

SIMULATED ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* info) {
  if (info != nullptr) info->estimatedTime = 0;
  memoir::simcuda::EndGroup(false);
  return ncclSuccess;
}

// Functions that NCCL declares for device code. Only code that nvcc compiles can use them.
SIMULATED ncclResult_t ncclDevCommCreate(ncclComm_t, const void*, void*) { return ncclInvalidUsage; }
SIMULATED ncclResult_t ncclDevCommDestroy(ncclComm_t, const void*) { return ncclSuccess; }
