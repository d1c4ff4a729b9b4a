"""Limits of the system that Memoir meets together with its program. Those that end the program by itself are passed over."""

from faults import fault
from lab import NOBODY, NotHere

import os

MIB = 1 << 20


def at_start_and_later(lab, long, step, amounts):
    for amount in amounts if long else amounts[::3]:
        for when in ("before", "during"):
            result = lab.run_beside_bare(**{when: step(amount)})
            if result is not None:
                yield result


@fault("RLIMIT_DATA: 0 to 64 MiB more than is taken")
def data(lab, long):
    yield from at_start_and_later(lab, long, lambda mib: [["limit", "DATA", mib * MIB]], (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64))


@fault("RLIMIT_AS: 0 to 64 MiB more than is taken")
def address_space(lab, long):
    yield from at_start_and_later(lab, long, lambda mib: [["limit", "AS", mib * MIB]], (0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64))


@fault("RLIMIT_MEMLOCK: 1 to 256 MiB, all memory to come locked (mlockall), as a user who is not root")
def locked_memory(lab, long):
    if os.geteuid() != 0:
        raise NotHere("becoming another user takes root")
    yield from at_start_and_later(lab, long, lambda mib: [["lock_memory", mib]], (1, 4, 16, 64, 256))


@fault("RLIMIT_FSIZE: 0 to 8 MiB, SIGXFSZ ignored as Python does")
def file_size(lab, long):
    yield from at_start_and_later(lab, long, lambda kib: [["limit", "FSIZE", kib << 10]], (0, 1, 4, 16, 32, 64, 1024, 4096, 8192))


@fault("RLIMIT_FSIZE: 0 to 8 MiB, SIGXFSZ with its own action, which ends a program")
def file_size_by_signal(lab, long):
    yield from at_start_and_later(lab, long, lambda kib: [["default_action", "SIGXFSZ"], ["limit", "FSIZE", kib << 10]], (0, 1, 4, 16, 32, 64, 1024, 4096, 8192))


@fault("RLIMIT_NOFILE: 0 to 12 descriptors more than are open")
def descriptors(lab, long):
    yield from at_start_and_later(lab, long, lambda extra: [["limit", "NOFILE", extra]], tuple(range(0, 13)))


@fault("RLIMIT_NPROC as a user who is not root: 0 to 3 threads more")
def threads(lab, long):
    if os.geteuid() != 0:
        raise NotHere("becoming another user takes root")
    yield from at_start_and_later(lab, long, lambda extra: [["user", NOBODY], ["limit", "NPROC", extra]], (0, 1, 2, 3))
