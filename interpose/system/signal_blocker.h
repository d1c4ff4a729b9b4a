// Blocks all signals except faults on this thread until the end of the scope.
//
// A handler of the program may leave by siglongjmp and never return to the interrupted code. If that code held a lock
// of Memoir, the lock would stay locked. So code that takes such a lock blocks signals first. Keep the scope short, and
// do not wait in it without a time limit.
#ifndef INTERPOSE_SYSTEM_SIGNAL_BLOCKER_H_
#define INTERPOSE_SYSTEM_SIGNAL_BLOCKER_H_

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace memoir {

class SignalBlocker {
 public:
  SignalBlocker() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&held, fault);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalBlocker() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlocker(const SignalBlocker&) = delete;
  SignalBlocker& operator=(const SignalBlocker&) = delete;

 private:
  sigset_t before_;
};

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_SIGNAL_BLOCKER_H_
