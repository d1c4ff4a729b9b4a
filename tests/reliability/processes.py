"""Children, daemons, threads, and programs that go on and on."""

import os

from faults import fault
from lab import NotHere


@fault("forked children that train and end by `os._exit`")
def children(lab, long):
    for number in (1, 5, 50) if long else (4,):
        yield lab.run(program="children", arguments=[number], first=0)


@fault("forks while other threads call their first operator")
def forks_beside_threads(lab, long):
    for _ in range(5 if long else 1):
        yield lab.run(program="forks_beside_threads", arguments=[500 if long else 100])


@fault("up to 20,000 threads, one after another")
def short_threads(lab, long):
    for number in (5000, 20_000) if long else (2000,):
        yield lab.run(program="short_threads", arguments=[number])


@fault("a program with real-time priority (SCHED_FIFO) on the one CPU that it has")
def real_time(lab, long):
    if os.geteuid() != 0:
        raise NotHere("real-time priority takes root")
    for _ in range(5 if long else 1):
        for when in ("before", "during"):
            yield lab.run(**{when: [["real_time"]]}, arguments=[50_000])


@fault("a daemon that closes what it inherited and trains")
def daemons(lab, long):
    for _ in range(10 if long else 1):
        yield lab.run(program="daemon", arguments=[5000], first=0)


@fault("all descriptors closed, their numbers taken for a file")
def closed_descriptors(lab, long):
    for _ in range(10 if long else 1):
        yield lab.run(during=[["close_descriptors"]], arguments=[20_000])


@fault("up to 5,000 threads that live at once")
def threads(lab, long):
    for number in (1000, 2000, 3000, 5000) if long else (1000,):
        yield lab.run(program="threads", arguments=[number], options={})  # a ring of the usual size


@fault("up to 1,000,000 distinct names, each with a different shape")
def names(lab, long):
    for number in (100_000, 1_000_000) if long else (40_000,):
        yield lab.run(program="names", arguments=[number])


@fault("a training of 30 minutes with `--max-size 1MiB`", only_long=True)
def steady(lab, long):
    folder = lab.new_folder()
    result = lab.run(folder=folder, keep=True, program="steady", arguments=[1800], hangs_after=3600, options={"ring_size": "4MiB", "max_size": "1MiB"})
    size = sum(path.stat().st_size for path in (folder / "capture").glob("*.memoir"))
    if size > 1 << 20:
        result.verdict, result.words = "wrong", f"a capture of {size} bytes"
    lab.remove(folder)
    yield result
