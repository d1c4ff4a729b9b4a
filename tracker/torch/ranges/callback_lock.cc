#include "tracker/torch/ranges/callback_lock.h"

#include <pthread.h>

namespace memoir {
namespace {

constinit pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
void Lock() { pthread_mutex_lock(&changing); }
void Unlock() { pthread_mutex_unlock(&changing); }

}  // namespace

CallbackLock::CallbackLock() {
  static const bool forks_wait = pthread_atfork(&Lock, &Unlock, &Unlock) == 0;
  static_cast<void>(forks_wait);
  Lock();
}

CallbackLock::~CallbackLock() { Unlock(); }

}  // namespace memoir
