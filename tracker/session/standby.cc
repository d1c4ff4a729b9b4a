#include "tracker/session/standby.h"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>

#include "tracker/session/control/published_object.h"
#include "tracker/session/process/not_recording_message.h"
#include "tracker/session/session.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/ranges/training_watch.h"

namespace memoir {
namespace {

struct Standby {
  Settings settings;
  pid_t recorder;                  // the process that records with these settings; 0: no process
  std::atomic<bool> taken{false};  // a thread has taken the settings, to start the recording

  bool stands_by() const { return recorder != getpid() && !taken.load(std::memory_order_acquire); }
};

constinit PublishedObject<Standby> standby;

void Keep(const Settings& settings, pid_t recorder) {
  standby.Put(std::unique_ptr<Standby>(new Standby{settings, recorder}));
}

// Removes the range hook, and starts to watch for the begin of training.
void Watch() {
  EnableRangeHook(false);
  WatchTraining(&BeginFromStandbyOrPrint);
}

// A copy of the settings, for the thread that starts the recording. TakeSettings returns it to the first caller only.
struct StandbySettings {
  Settings settings;
  pid_t recorder;
};
std::optional<StandbySettings> TakeSettings() {
  const PublishedObject<Standby>::Visit visit(standby);
  Standby* known = visit.get();
  if (known == nullptr || !known->stands_by()) return std::nullopt;
  // The copy may throw, so it precedes the exchange, which takes the settings.
  std::optional<StandbySettings> copy({known->settings, known->recorder});
  if (known->taken.exchange(true, std::memory_order_acq_rel)) return std::nullopt;
  return copy;
}

bool Begin(const StandbySettings& taken, std::string* error) {
  WatchTraining(nullptr);
  Settings settings = taken.settings;
  settings.automatic = true;
  settings.forked_from = static_cast<std::uint64_t>(taken.recorder);
  return StartSession(settings, error);
}

void BeginOrPrint(const StandbySettings& taken) {
  std::string error = "unknown failure at the start of the recording";
  try {
    if (Begin(taken, &error)) return;
  } catch (const std::exception& failure) {
    error = failure.what();
  } catch (...) {
  }
  PrintNotRecording(error, taken.settings.child || taken.recorder != 0);
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

bool IsStandingBy() {
  const PublishedObject<Standby>::Visit visit(standby);
  return visit.get() != nullptr && visit.get()->stands_by();
}

void StandByAfterFork() {
  if (IsStandingBy() && !WatchFromNextRange(&BeginFromStandbyOrPrint)) Watch();
}

void LeaveStandby() {
  if (!IsStandingBy()) return;
  ForgetChildren();
  WatchTraining(nullptr);
  RemoveRangeHookSoon();
}

bool BeginFromStandby(std::string* error) {
  const std::optional<StandbySettings> taken = TakeSettings();
  return !taken || Begin(*taken, error);
}

void BeginFromStandbyOrPrint() noexcept {
  try {
    if (const std::optional<StandbySettings> taken = TakeSettings()) BeginOrPrint(*taken);
  } catch (...) {  // no memory even for a message
  }
}

}  // namespace memoir
