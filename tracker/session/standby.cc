#include "tracker/session/standby.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "tracker/session/rank.h"
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

void OnTraining() {
  std::string error;
  if (!BeginFromStandby(&error)) std::fprintf(stderr, "memoir: not recording: %s\n", error.c_str());
}

void Keep(const Settings& settings, pid_t recorder) {
  standby.store(new Standby{settings, recorder}, std::memory_order_release);
}

void Watch() {
  EnableRangeHook(false);
  WatchTraining(&OnTraining);
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
  const Standby* known = standby.load(std::memory_order_acquire);
  if (known == nullptr || known->recorder == getpid()) return true;
  if (!standby.compare_exchange_strong(known, nullptr, std::memory_order_acq_rel)) return true;  // another thread's
  WatchTraining(nullptr);
  Settings settings = known->settings;
  settings.automatic = true;
  settings.forked_from = static_cast<std::uint64_t>(known->recorder);
  return StartSession(settings, error);
}

}  // namespace memoir
