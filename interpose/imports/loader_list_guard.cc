#include "interpose/imports/loader_list_guard.h"

#include <pthread.h>

#include <ctime>

namespace memoir {
namespace {

constinit pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;
constinit bool forks_wait = false;

void LockLooking() { pthread_mutex_lock(&looking); }
void UnlockLooking() { pthread_mutex_unlock(&looking); }

bool TryForAWhile() {
  constexpr int kTries = 100;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 50'000};
  for (int i = 0; i < kTries; ++i) {
    if (pthread_mutex_trylock(&looking) == 0) return true;
    nanosleep(&kPause, nullptr);
  }
  return false;
}

}  // namespace

void RegisterLoaderForkWait() {
  if (!forks_wait) forks_wait = pthread_atfork(&LockLooking, &UnlockLooking, &UnlockLooking) == 0;
}

LoaderListGuard::LoaderListGuard(Patience patience) : has_turn_(patience == Patience::kWaits || TryForAWhile()) {
  if (patience == Patience::kWaits) LockLooking();
}

LoaderListGuard::~LoaderListGuard() {
  if (has_turn_) UnlockLooking();
}

}  // namespace memoir
