#include "simcuda/api/nccl_group.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"

namespace memoir::simcuda {
namespace {

struct Communicators {
  Mutex mutex;
  std::map<const void*, std::shared_ptr<Communicator>> all;
};

constinit LazyObject<Communicators> communicators;

Communicators& TheCommunicators() { return communicators.Get(); }

std::atomic<const char*> last_error{""};

thread_local int group_depth = 0;
thread_local std::vector<NcclCall>* group = nullptr;

bool Complete(std::vector<NcclCall>& calls) {
  const std::string error = CompleteCalls(calls, TheMachine().configuration().patience_seconds);
  if (!error.empty()) SetLastNcclError(error);
  return error.empty();
}

}  // namespace

std::shared_ptr<Communicator> FindCommunicator(const ncclComm* handle) {
  const std::lock_guard lock(TheCommunicators().mutex);
  const auto found = TheCommunicators().all.find(handle);
  return found == TheCommunicators().all.end() ? nullptr : found->second;
}

ncclComm* AddCommunicator(std::shared_ptr<Communicator> communicator) {
  const std::lock_guard lock(TheCommunicators().mutex);
  auto* const handle = reinterpret_cast<ncclComm*>(communicator.get());
  TheCommunicators().all[handle] = std::move(communicator);
  return handle;
}

bool RemoveCommunicator(ncclComm* handle) {
  const auto communicator = FindCommunicator(handle);
  if (communicator == nullptr) return false;
  communicator->Abort();  // ends calls in which other threads wait
  const std::lock_guard lock(TheCommunicators().mutex);
  return TheCommunicators().all.erase(handle) > 0;
}

bool Submit(NcclCall call) {
  call.communicator->Enqueue(call);
  if (group_depth > 0) {
    group->push_back(std::move(call));
    return true;
  }
  std::vector<NcclCall> calls;
  calls.push_back(std::move(call));
  return Complete(calls);
}

void BeginGroup() {
  if (group_depth++ == 0) group = new std::vector<NcclCall>;
}

bool EndGroup(bool run) {
  if (group_depth == 0) return false;
  if (--group_depth > 0) return true;
  const std::unique_ptr<std::vector<NcclCall>> calls(std::exchange(group, nullptr));
  return !run || Complete(*calls);
}

const char* LastNcclError() { return last_error.load(); }

void SetLastNcclError(const std::string& line) {
  last_error.store((new std::string(line))->c_str());  // another thread may still read the previous text
}

}  // namespace memoir::simcuda
