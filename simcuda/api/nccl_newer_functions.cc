// Functions of newer NCCL versions, which torch 2.15 and later import. Memoir may be built with older headers of NCCL.
// So these functions are declared by hand, without NCCL's types, and one libmemoir_simcuda.so serves older and newer
// torch versions.
//
// This file includes no header of NCCL, whose declarations would conflict with these.
#include <cstddef>
#include <cstdint>
#include <string>

#include "simcuda/api/exported.h"
#include "simcuda/api/nccl_group.h"

namespace {

// Numbers of ncclResult_t.
constexpr int kSuccess = 0, kInvalidArgument = 4, kInvalidUsage = 5;

int IfKnown(const ncclComm* communicator) {
  return memoir::simcuda::FindCommunicator(communicator) == nullptr ? kInvalidArgument : kSuccess;
}

int NotSimulated(const char* what) {
  memoir::simcuda::SetLastNcclError(std::string(what) + " is not simulated");
  return kInvalidUsage;
}

}  // namespace

SIMULATED int ncclCommSuspend(ncclComm* communicator, int) { return IfKnown(communicator); }
SIMULATED int ncclCommResume(ncclComm* communicator) { return IfKnown(communicator); }

SIMULATED int ncclCommMemStats(ncclComm* communicator, int statistic, std::uint64_t* value) {
  constexpr int kPersistent = 2, kTotal = 3;
  const auto found = memoir::simcuda::FindCommunicator(communicator);
  const bool counted = found != nullptr && (statistic == kPersistent || statistic == kTotal);
  *value = counted ? found->buffers().bytes() : 0;
  return IfKnown(communicator);
}

// Not simulated: growing, one-sided communication, and memory that ranks share.
SIMULATED int ncclCommGetUniqueId(ncclComm*, void*) { return NotSimulated("ncclCommGrow"); }
SIMULATED int ncclCommGrow(ncclComm*, int, const void*, int, ncclComm**, void*) { return NotSimulated("ncclCommGrow"); }
SIMULATED int ncclPutSignal(const void*, std::size_t, int, int, void*, std::size_t, int, int, unsigned, ncclComm*,
                            void*) {
  return NotSimulated("ncclPutSignal");
}
SIMULATED int ncclSignal(int, int, int, unsigned, ncclComm*, void*) { return NotSimulated("ncclSignal"); }
SIMULATED int ncclWaitSignal(int, void*, ncclComm*, void*) { return NotSimulated("ncclWaitSignal"); }
SIMULATED int ncclWinGetUserPtr(ncclComm*, void*, void** pointer) {
  *pointer = nullptr;
  return NotSimulated("ncclWinGetUserPtr");
}
SIMULATED int ncclGetLsaMultimemDevicePointer(void*, std::size_t, void** pointer) {
  *pointer = nullptr;
  return NotSimulated("ncclGetLsaMultimemDevicePointer");
}
SIMULATED int ncclGetPeerDevicePointer(void*, std::size_t, int, void** pointer) {
  *pointer = nullptr;
  return NotSimulated("ncclGetPeerDevicePointer");
}
