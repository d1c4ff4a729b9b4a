// Marks work that Memoir itself does on the calling thread, such as computing for the simulated device. Hooks on that
// thread record nothing while an OwnWork exists.
#ifndef INTERPOSE_SYSTEM_OWN_WORK_H_
#define INTERPOSE_SYSTEM_OWN_WORK_H_

#include <cstdint>

#include "interpose/system/export.h"

namespace memoir {

// The number of OwnWork objects on this thread.
extern "C" MEMOIR_INTERPOSE_THREAD_LOCAL std::uint32_t memoir_own_work;

class OwnWork {
 public:
  OwnWork() { ++memoir_own_work; }
  ~OwnWork() { --memoir_own_work; }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_OWN_WORK_H_
