"""System calls that are denied, clocks that step, signals."""

import errno

from faults import fault

DENIED = ("fallocate", "ftruncate", "clone3", "process_vm_readv", "madvise", "fchmod", "fcntl", "prctl", "getdents64", "uname", "memfd_create", "sched_getaffinity",
          "clock_nanosleep", "mprotect")


@fault("seccomp denies one of " + ", ".join(f"`{name}`" for name in DENIED) + " (EPERM, ENOSYS)")
def denied(lab, long):
    for name in DENIED if long else DENIED[:4]:
        for error in (errno.EPERM, errno.ENOSYS):
            for when in ("before", "during") if long else ("before",):
                result = lab.run_beside_bare(**{when: [["deny", name, error]]})
                if result is not None:
                    yield result


@fault("the clock of the day steps by an hour to and fro, stands still, is a year ahead, a day back")
def clocks(lab, long):
    for mode in (1, 2, 3, 4) if long else (1, 4):
        for when in ("before", "during"):
            yield lab.run(**{when: [["clock", mode]]})


@fault("SIGALRM each 20 to 1,000 µs")
def alarms(lab, long):
    for microseconds in (20, 50, 200, 1000) if long else (50,):
        for when in ("before", "during"):
            yield lab.run(**{when: [["alarms", microseconds]]}, arguments=[20_000])


@fault("SIGUSR1 to each thread, as fast as another process can")
def user_signals(lab, long):
    for _ in range(5 if long else 1):
        for when in ("before", "during"):
            yield lab.run(**{when: [["user_signals"]]}, arguments=[20_000])


@fault("standard error is a broken pipe or a file at its limit, SIGPIPE and SIGXFSZ with their own actions")
def terminal(lab, long):
    for stderr in ("broken_stderr", "full_stderr"):
        yield lab.run(before=[[stderr], ["environment", "MEMOIR_RANK", "none"]])
        yield lab.run(during=[[stderr], ["limit", "FSIZE", 1 << 10]])
