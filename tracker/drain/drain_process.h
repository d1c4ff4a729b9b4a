// Runs memoir-drain as a process that the program does not notice. The program receives no SIGCHLD for this process,
// and wait() in the program does not return it. The process does not inherit the program's descriptors, standard
// streams, environment (so no preloaded libraries) or terminal.
//
// An object runs one memoir-drain at a time. One thread.
#ifndef TRACKER_DRAIN_DRAIN_PROCESS_H_
#define TRACKER_DRAIN_DRAIN_PROCESS_H_

#include <string>
#include <utility>

#include "interpose/system/process_identity.h"

namespace memoir {

class DrainProcess {
 public:
  // `program`: the path of memoir-drain.
  explicit DrainProcess(std::string program) : program_(std::move(program)) {}
  // Does not stop a running memoir-drain, which ends by itself.
  ~DrainProcess() = default;
  DrainProcess(const DrainProcess&) = delete;
  DrainProcess& operator=(const DrainProcess&) = delete;

  // Starts memoir-drain on `ring`. `may_remove`: memoir-drain removes the ring if its capture's folder no longer
  // exists. False if `program` was empty, if the previous memoir-drain still runs, or if no process can be started.
  // Also false if orphaned processes become children of this process, because the program would then notice
  // memoir-drain.
  bool Start(const std::string& ring, bool may_remove);
  enum class State { kNone, kRunning, kDone, kFailed };
  // Returns the state of the started memoir-drain. kDone: it has ended, and the ring no longer exists. kFailed: it has
  // ended, and the ring still exists. kDone and kFailed are returned once; later calls return kNone.
  State Look();

 private:
  std::string program_;
  std::string ring_;
  ProcessIdentity process_{};
  bool is_running_ = false;
};

// Returns the path of the memoir-drain that was installed with the library or program that contains this code; "" if
// there is no such file.
std::string InstalledDrain();

}  // namespace memoir

#endif  // TRACKER_DRAIN_DRAIN_PROCESS_H_
