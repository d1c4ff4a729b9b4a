"""Compares the library's calls with a Python profile function's, in any interpreter: `python calls_as_python_says.py LIBRARY`.

Runs without torch and without pytest, so any interpreter can run it. Prints one line, and exits with 0 if all are equal.
"""

import asyncio
import cProfile
import ctypes
import os
import pathlib
import pstats
import re
import sys
import threading

LIBRARY = ctypes.PyDLL(sys.argv[1])
LIBRARY.memoir_test_said.restype = ctypes.c_char_p
TOLD = {}  # by thread, what the profile function is told


def tracing():
    """The package's own module, which does not import torch."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    from _torch_memoir import _tracing

    return _tracing


def told(frame, event, argument):
    name = ""
    if event == "c_call":
        name = argument.__name__
    elif event in ("call", "return"):
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    TOLD.setdefault(threading.get_native_id(), []).append(f"{event.replace('c_exception', 'c_return')} {name}")


def said():
    """By thread, what the library saw since the last time."""
    found = {}
    for line in LIBRARY.memoir_test_said().decode().splitlines():
        thread, rest = line.split(" ", 1)
        found.setdefault(int(thread), []).append(rest)
    return found


def count(left):
    for i in range(left):
        yield i


def generators():
    generator = count(5)
    next(generator), generator.send(None), list(generator)
    for thrown in (ValueError, KeyError):
        generator = count(3)
        next(generator)
        try:
            generator.throw(thrown)
        except thrown:
            pass
    generator = count(3)
    next(generator)
    generator.close()


def raises(depth):
    if depth:
        return raises(depth - 1)
    raise KeyError(depth)


def deep(left):
    return deep(left - 1) if left else len("abc")


class Dies:
    def __del__(self):
        len("dies")


async def waits():
    await asyncio.sleep(0)
    return abs(-1)


def work():
    generators()
    try:
        raises(20)
    except KeyError:
        pass
    deep(300)
    sorted([3, 1, 2], key=lambda x: -x)
    list(map(str.upper, "ab")), [x for x in count(3)], "".join(c for c in "ab")

    class Body:
        field = max([1, 2])

    Dies()
    exec("def made(): return abs(-1)\nmade()", {})
    for bad in ("int('no')", "''.index('y')", "dict().pop('z')"):
        try:
            eval(bad)
        except (ValueError, KeyError):
            pass
    dict(a=1).get("a"), list.append([], 1), str.upper("a")


def done():
    pass


def part(lines):
    """The calls from the first call of work() to done()."""
    return lines[lines.index("call work") : lines.index("call done")]


def compare(found, what):
    for thread, lines in TOLD.items():
        if "call work" not in lines:
            continue
        mine, theirs = part(found.get(thread, ["call work", "call done"])), part(lines)
        differing = next(((i, pair) for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), None)
        assert mine == theirs, f"{what}: {len(mine)} and {len(theirs)} events, {differing}"
        compare.events += len(theirs)
    TOLD.clear()


compare.events = 0


def both():
    work()
    done()


def main_thread():
    sys.setprofile(told)
    assert sys.getprofile() is told
    both()
    sys.setprofile(None)
    assert sys.getprofile() is None
    compare(said(), "the main thread")


def threads():
    threading.setprofile(told)
    started = [threading.Thread(target=both) for _ in range(8)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    threading.setprofile(None)
    compare(said(), "threads")


def beside_no_other():
    """Without another tool: threads are followed from their beginning, and their calls are the same as above."""
    said()
    thread = threading.Thread(target=both)
    both()
    thread.start()
    thread.join()
    first, second = (part(lines) for lines in said().values())
    assert first == second and len(first) > 300


def c_profile():
    profile = cProfile.Profile()
    profile.enable()
    both()
    profile.disable()
    rows = pstats.Stats(profile).stats
    assert sum(row[1] for key, row in rows.items() if key[2] == "work") == 1


def recursion():
    depths = []

    def down():
        depths[-1] += 1
        down()

    for limit in (300, 800):
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(limit)
        depths.append(0)
        try:
            down()
        except RecursionError:
            pass
        sys.setrecursionlimit(before)
    return depths


def fork():
    child = os.fork()
    if child == 0:
        both()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def main():
    problem = ctypes.create_string_buffer(256)
    assert LIBRARY.memoir_test_prepare(problem, len(problem)) == 1, problem.value
    for calls in (LIBRARY.memoir_python_trace_calls, LIBRARY.memoir_python_monitor_calls):
        calls.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    LIBRARY.memoir_python_leave_calls.restype = None
    depths = recursion()
    tracer = tracing()
    for _ in range(2):
        assert tracer.start(LIBRARY) == ""
        main_thread()
        threads()
        beside_no_other()
        assert recursion() == depths, "RecursionError at another depth"
        asyncio.run(waits())
        fork()
        c_profile()
        tracer.stop()
        said()
        both()
        assert said() == {}, "calls are seen behind the stop"
        assert sys.getprofile() is None
    print(f"{re.split('[ (]', sys.version)[0]}: {compare.events} events, all equal")


main()
