// Saves errno and restores it at the end of the scope, so that a hook does not change the errno that the program sees.
#ifndef INTERPOSE_SYSTEM_ERRNO_KEEPER_H_
#define INTERPOSE_SYSTEM_ERRNO_KEEPER_H_

#include <cerrno>

namespace memoir {

class ErrnoKeeper {
 public:
  ErrnoKeeper() : saved_(errno) {}
  ~ErrnoKeeper() { errno = saved_; }
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;

 private:
  int saved_;
};

}  // namespace memoir

#endif  // INTERPOSE_SYSTEM_ERRNO_KEEPER_H_
