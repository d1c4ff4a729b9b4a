#include "tracker/session/standby.h"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>

#include "tracker/session/not_recording.h"
#include "tracker/session/published.h"
#include "tracker/session/session.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/training_watch.h"

namespace memoir {
namespace {

struct Standby {
  Settings settings;
  pid_t recorder;  // who records by these settings; 0: nobody
  std::atomic<bool> taken{false};

  bool stands_by() const { return recorder != getpid() && !taken.load(std::memory_order_acquire); }
};

constinit Published<Standby> standby;

void Keep(const Settings& settings, pid_t recorder) {
  standby.Put(std::unique_ptr<Standby>(new Standby{settings, recorder}));
}

void Watch() {
  EnableRangeHook(false);
  WatchTraining(&BeginFromStandbyOrSay);
}

// By what this process stands by, for whoever is first to ask.
struct Taken {
  Settings settings;
  pid_t recorder;
};
std::optional<Taken> Take() {
  const Published<Standby>::Visit visit(standby);
  Standby* known = visit.get();
  if (known == nullptr || !known->stands_by()) return std::nullopt;
  std::optional<Taken> copy({known->settings, known->recorder});  // may throw: before it is taken
  if (known->taken.exchange(true, std::memory_order_acq_rel)) return std::nullopt;
  return copy;
}

bool Begin(const Taken& taken, std::string* error) {
  WatchTraining(nullptr);
  Settings settings = taken.settings;
  settings.automatic = true;
  settings.forked_from = static_cast<std::uint64_t>(taken.recorder);
  return StartSession(settings, error);
}

void BeginOrSay(const Taken& taken) {
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

void ForgetChildren() { standby.Put(nullptr); }

void StandBy(const Settings& settings) {
  Keep(settings, 0);
  Watch();
}

bool StandsBy() {
  const Published<Standby>::Visit visit(standby);
  return visit.get() != nullptr && visit.get()->stands_by();
}

void StandByAfterFork() {
  if (StandsBy() && !WatchFromNextRange(&BeginFromStandbyOrSay)) Watch();
}

void LeaveStandby() {
  if (!StandsBy()) return;
  ForgetChildren();
  WatchTraining(nullptr);
  LetRangeHookLeave();
}

bool BeginFromStandby(std::string* error) {
  const std::optional<Taken> taken = Take();
  return !taken || Begin(*taken, error);
}

void BeginFromStandbyOrSay() noexcept {
  try {
    if (const std::optional<Taken> taken = Take()) BeginOrSay(*taken);
  } catch (...) {  // not even memory for a line
  }
}

}  // namespace memoir
