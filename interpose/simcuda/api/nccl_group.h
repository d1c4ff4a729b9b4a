// What NCCL's functions share: communicators by their handles, and groups of calls.
//
// Any thread; a group belongs to the thread that began it.
#ifndef INTERPOSE_SIMCUDA_API_NCCL_GROUP_H_
#define INTERPOSE_SIMCUDA_API_NCCL_GROUP_H_

#include <memory>
#include <string>

#include "interpose/simcuda/communicator.h"

struct ncclComm;  // NCCL's handle points to one; here it is a Communicator

namespace memoir::simcuda {

// Null for what is no communicator of ours.
std::shared_ptr<Communicator> FindCommunicator(const ncclComm* handle);
ncclComm* AddCommunicator(std::shared_ptr<Communicator> communicator);
bool RemoveCommunicator(ncclComm* handle);

// Completes the call, or, inside of a group, puts it off to the group's end. False: it failed, and the line was said.
bool Submit(Call call);
void BeginGroup();
// Completes what was put off once the outermost group ends; without `run`, forgets it.
bool EndGroup(bool run);

// What went wrong last in this process; "" at first. Never freed.
const char* LastNcclError();
void SetLastNcclError(const std::string& line);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_API_NCCL_GROUP_H_
