// memoir-drain as a process beside a program that knows nothing of it: no SIGCHLD, not waited for by its wait(), none
// of its descriptors, streams, signals or preloaded libraries.
//
// One at a time, one thread.
#ifndef TRACKER_DRAIN_DRAIN_PROCESS_H_
#define TRACKER_DRAIN_DRAIN_PROCESS_H_

#include <string>
#include <utility>

#include "interpose/process_identity.h"

namespace memoir {

class DrainProcess {
 public:
  // `program`: the path of memoir-drain.
  explicit DrainProcess(std::string program) : program_(std::move(program)) {}
  // Leaves one that runs alone: it ends by itself.
  ~DrainProcess() = default;
  DrainProcess(const DrainProcess&) = delete;
  DrainProcess& operator=(const DrainProcess&) = delete;

  // `may_remove`: a ring whose capture's folder is gone. False: there is no process to be had, or no such program, or
  // this process is one that those without a parent become children of.
  bool Start(const std::string& ring, bool may_remove);
  enum class State { kNone, kRunning, kDone, kFailed };
  // kDone (the ring is gone) and kFailed once, then kNone.
  State Look();

 private:
  std::string program_;
  std::string ring_;
  ProcessIdentity process_{};
  bool is_running_ = false;
};

// Where the library or program that this code is in was installed with its memoir-drain: "" where it is not.
std::string InstalledDrain();

}  // namespace memoir

#endif  // TRACKER_DRAIN_DRAIN_PROCESS_H_
