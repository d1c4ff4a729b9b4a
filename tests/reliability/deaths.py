"""Processes that end without a word."""

from faults import fault

ENDLESS = 1_000_000_000


@fault("SIGKILL")
def killed(lab, long):
    for _ in range(200 if long else 4):
        yield lab.run(ends=["signal 9"], arguments=[ENDLESS], kill_at=lab.random.randrange(200, 200_000 if long else 50_000), flush=False)


@fault("SIGKILL, `--max-size 256KiB` evicts parts")
def killed_with_eviction(lab, long):
    options = {"ring_size": "4MiB", "max_size": "256KiB"}
    for _ in range(200 if long else 4):
        kill_at = lab.random.randrange(200, 200_000) if long else lab.random.randrange(20_000, 80_000)
        yield lab.run(ends=["signal 9"], program="shapes", arguments=[ENDLESS], kill_at=kill_at, flush=False, options=options, live=100 << 20)


STEPS = {"program": "steps", "flush": False, "ends": ["signal 9"]}


@fault("SIGKILL, `--detail auto`: steps that are named")
def killed_in_known_steps(lab, long):
    for _ in range(200 if long else 4):
        kill_at = lab.random.randrange(200, 100_000) if long else lab.random.randrange(200, 50_000)
        yield lab.run(**STEPS, arguments=[ENDLESS, 500], kill_at=kill_at, options={"ring_size": "4MiB", "detail": "auto"})


@fault("SIGKILL, `--detail auto`, `--max-size 256KiB` evicts parts with the steps that later ones repeat")
def killed_in_known_steps_with_eviction(lab, long):
    options = {"ring_size": "4MiB", "detail": "auto", "max_size": "256KiB"}
    for _ in range(200 if long else 4):
        kill_at = lab.random.randrange(200, 200_000) if long else lab.random.randrange(50_000, 100_000)
        yield lab.run(**STEPS, arguments=[ENDLESS, 20], kill_at=kill_at, options=options)


@fault("SIGKILL during the stop")
def killed_at_the_stop(lab, long):
    for _ in range(100 if long else 3):
        times = lab.random.randrange(1000, 20_000)
        yield lab.run(ends=["signal 9", "0"], first=0, arguments=[times], kill_at=times, flush=False)


@fault("SIGSEGV, SIGABRT, SIGTERM, `os._exit`, exec of another program")
def other_deaths(lab, long):
    for _ in range(10 if long else 1):
        for end in ("SIGSEGV", "SIGABRT", "SIGTERM", "_exit", "exec"):
            number = {"SIGSEGV": 11, "SIGABRT": 6, "SIGTERM": 15, "_exit": 0, "exec": 0}[end]
            yield lab.run(ends=[f"signal {number}" if number else "0"], arguments=[lab.random.randrange(1, 20_000)], end=end, during=[["limit", "CORE", 0]])
