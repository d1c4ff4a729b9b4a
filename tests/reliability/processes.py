"""Children, daemons, threads, and programs that go on and on."""

from faults import fault


@fault("forked children that train and end by `os._exit`")
def children(lab, long):
    for number in (1, 5, 50) if long else (4,):
        yield lab.run(program="children", arguments=[number], first=0)


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


@fault("up to 1,000,000 distinct names, each with a shape of its own")
def names(lab, long):
    for number in (100_000, 1_000_000) if long else (40_000,):
        yield lab.run(program="names", arguments=[number])
