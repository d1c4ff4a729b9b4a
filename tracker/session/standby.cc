#include "tracker/session/standby.h"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <utility>

#include "tracker/session/not_recording.h"
#include "tracker/session/session.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/training_watch.h"

namespace memoir {
namespace {

struct Standby {
  Settings settings;
  pid_t recorder;  // who records by these settings; 0: nobody
};

// Never freed: a forked child may just read it.
constinit std::atomic<const Standby*> standby{nullptr};

void Keep(const Settings& settings, pid_t recorder) {
  standby.store(new Standby{settings, recorder}, std::memory_order_release);
}

void Watch() {
  EnableRangeHook(false);
  WatchTraining(&BeginFromStandbyOrSay);
}

// By what this process stands by, for whoever is first to ask; nullptr: it does not.
const Standby* Take() {
  const Standby* known = standby.load(std::memory_order_acquire);
  if (known == nullptr || known->recorder == getpid()) return nullptr;
  return standby.compare_exchange_strong(known, nullptr, std::memory_order_acq_rel) ? known : nullptr;
}

bool Begin(const Standby& taken, std::string* error) {
  WatchTraining(nullptr);
  Settings settings = taken.settings;
  settings.automatic = true;
  settings.forked_from = static_cast<std::uint64_t>(taken.recorder);
  return StartSession(settings, error);
}

void BeginOrSay(const Standby& taken) {
  std::string error = "unknown failure at the start of the recording";
  try {
    if (Begin(taken, &error)) return;
  } catch (const std::exception& failure) {
    error = failure.what();
  } catch (...) {
  }
  SayNotRecording(error, taken.settings.child || taken.recorder != 0);
}

}  // namespace

void KeepForChildren(const Settings& settings) {
  Keep(settings, getpid());
  WatchTraining(nullptr);
}

void ForgetChildren() { standby.store(nullptr, std::memory_order_release); }

void StandBy(const Settings& settings) {
  Keep(settings, 0);
  Watch();
}

bool StandsBy() {
  const Standby* known = standby.load(std::memory_order_acquire);
  return known != nullptr && known->recorder != getpid();
}

void StandByAfterFork() {
  if (StandsBy()) Watch();
}

void LeaveStandby() {
  if (!StandsBy()) return;
  ForgetChildren();
  WatchTraining(nullptr);
  EnableRangeHook(false);
}

bool BeginFromStandby(std::string* error) {
  const Standby* taken = Take();
  return taken == nullptr || Begin(*taken, error);
}

void BeginFromStandbyOrSay() noexcept {
  try {
    if (const Standby* taken = Take()) BeginOrSay(*taken);
  } catch (...) {  // not even memory for a line
  }
}

}  // namespace memoir
