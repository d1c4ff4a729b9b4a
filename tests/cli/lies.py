"""A library in front of libc that makes `memoir doctor` see another machine: LIE_TYPE, LIE_ROOM, LIE_KERNEL, LIE_REFUSED."""

LIES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

static void *real(const char *name) { return dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name); }
static int asked(const char *variable, const char *path) {
  const char *lie = getenv(variable);
  return lie != NULL && strncmp(lie, path, strlen(path)) == 0 && lie[strlen(path)] == '=';
}
static unsigned long told(const char *variable) { return strtoul(strrchr(getenv(variable), '=') + 1, NULL, 0); }

int statfs(const char *path, struct statfs *kind) {
  int result = ((int (*)(const char *, struct statfs *))real("statfs"))(path, kind);
  if (asked("LIE_TYPE", path)) kind->f_type = (long)told("LIE_TYPE");
  return result;
}
int statvfs(const char *path, struct statvfs *room) {
  int result = ((int (*)(const char *, struct statvfs *))real("statvfs"))(path, room);
  if (asked("LIE_ROOM", path)) room->f_frsize = 1, room->f_bavail = told("LIE_ROOM");
  return result;
}
int uname(struct utsname *system) {
  int result = ((int (*)(struct utsname *))real("uname"))(system);
  if (getenv("LIE_KERNEL")) strcpy(system->release, getenv("LIE_KERNEL"));
  return result;
}
// "436,272": the numbers of system calls that are refused.
__attribute__((constructor)) static void refuse(void) {
  struct sock_filter steps[20] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  int count = 1;
  for (char *at = getenv("LIE_REFUSED"); at != NULL && *at != '\0'; at += *at == ',') {
    steps[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, strtoul(at, &at, 10), 0, 1);
    steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
  }
  steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)count, steps};
  if (count > 2 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)) abort();
}
"""
