// Has the kernel refuse system calls of this process from now on, as a sandbox or an older kernel does. For a process
// that was forked for it: nothing takes it back.
#ifndef TESTS_INTERPOSE_REFUSED_CALLS_H_
#define TESTS_INTERPOSE_REFUSED_CALLS_H_

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace memoir {

// Each of `calls` fails with ENOSYS. False: no filter can be set here.
inline bool RefuseCalls(const std::vector<unsigned>& calls) {
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace memoir

#endif  // TESTS_INTERPOSE_REFUSED_CALLS_H_
