// State that the NCCL functions share: communicators by their handles, and groups of calls.
//
// Any thread; a group belongs to the thread that began it.
#ifndef SIMCUDA_API_NCCL_GROUP_H_
#define SIMCUDA_API_NCCL_GROUP_H_

#include <memory>
#include <string>

#include "simcuda/collectives/communicator.h"

struct ncclComm;  // the type behind NCCL's handle; here a Communicator

namespace memoir::simcuda {

// Returns the communicator of a handle. nullptr if the handle does not belong to a simulated communicator.
std::shared_ptr<Communicator> FindCommunicator(const ncclComm* handle);
ncclComm* AddCommunicator(std::shared_ptr<Communicator> communicator);
bool RemoveCommunicator(ncclComm* handle);

// Completes the call. Inside a group, postpones the call to the group's end. False if the call failed (LastNcclError).
bool Submit(NcclCall call);
void BeginGroup();
// Completes the postponed calls when the outermost group ends. If `run` is false, drops these calls.
bool EndGroup(bool run);

// The last error of this process; empty at first. Never freed.
const char* LastNcclError();
void SetLastNcclError(const std::string& line);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_API_NCCL_GROUP_H_
