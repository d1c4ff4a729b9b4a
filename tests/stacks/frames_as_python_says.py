"""Frames as the reader finds them and as Python itself says, in any interpreter: `python frames_as_python_says.py LIBRARY [CASES]`.

Runs without torch and without pytest, so that a bare interpreter of any version can try it. Prints one line and exits with 0 where all are equal.
"""

import asyncio
import contextlib
import ctypes
import faulthandler
import functools
import gc
import os
import sys
import threading

LIBRARY = ctypes.CDLL(sys.argv[1])
LIBRARY.memoir_test_walk.restype = ctypes.c_uint64
LIBRARY.memoir_test_walk.argtypes = [ctypes.c_uint64]
_ROOM = threading.local()
_failures = []
_compared = 0


def read():
    """The reader's frames: the caller of this function and those around it."""
    if not hasattr(_ROOM, "text"):
        _ROOM.text = ctypes.create_string_buffer(1 << 20)
    cut = LIBRARY.memoir_test_frames(_ROOM.text, len(_ROOM.text))
    assert cut >= 0, _ROOM.text.value.decode()
    return [tuple(line.split("\t")) for line in _ROOM.text.value.decode().splitlines()][1:]


def said():
    """The same by sys._getframe."""
    frames = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        frames.append((code.co_filename, getattr(code, "co_qualname", code.co_name), str(frame.f_lineno or 0)))
        frame = frame.f_back
    return frames


def compare(found, wanted, most=1023):
    global _compared
    _compared += 1
    if found != wanted[:most] and len(_failures) < 5:
        differing = next((pair for pair in zip(found, wanted) if pair[0] != pair[1]), (len(found), len(wanted)))
        _failures.append(f"{differing} in {wanted[:3]}")


def here():
    compare(read(), said())  # fmt: skip


def plain():
    compare(
        *(read(), said()),
    )
    return [
        1,
        here(),
    ]


def deep(left):
    if left > 0:
        return deep(left - 1)
    here()
    return None


def generator():
    here()
    yield 1
    here()
    inner = yield from (here() or i for i in range(3))
    here()
    return inner


def decorated(function):
    @functools.wraps(function)
    def around(*args):
        return function(*args)

    return around


@decorated
@decorated
def inside_decorators():
    here()


class Body:
    here()
    found = [here() for _ in range(2)]

    def method(self):
        here()
        (lambda: here())()
        return {here(): None for _ in range(2)}

    @property
    def attribute(self):
        here()

    def __del__(self):
        here()


async def waits():
    here()
    await asyncio.sleep(0)
    here()
    async with manager():
        here()
    return [here() async for _ in numbers()]


@contextlib.asynccontextmanager
async def manager():
    here()
    yield
    here()


async def numbers():
    for i in range(3):
        here()
        yield i


def raises():
    try:
        try:
            raise KeyError(1)
        except KeyError as error:
            here()
            raise ValueError(2) from error
    except ValueError:
        here()
    finally:
        here()
    with contextlib.suppress(ZeroDivisionError):
        1 / 0
    here()


def made_of_text():
    for name in ("<string>", "<ipython-input-3-0123456789ab>", "/tmp/ü/файл.py", "/tmp/\U0001f40d.py"):
        exec(compile("here()\n\n\ndef f(x):\n    return (\n        here())\nf(1); [here() for _ in range(1)]\n", name, "exec"), globals())
        eval(compile("here()", name, "eval"), globals())
    long = "f" * 2000
    exec(f"def {long}():\n    here_cut()\n{long}()", {"here_cut": lambda: here_cut()})


def here_cut():
    found, wanted = read(), said()
    compare(found, [(file, function[:1023], line) for file, function, line in wanted])


def calls_back():
    sorted([3, 1, 2], key=lambda x: here() or x)
    list(map(lambda x: here(), range(2)))
    functools.reduce(lambda a, b: here(), [1, 2, 3])
    ctypes.CFUNCTYPE(None)(here)()


def long_function():
    """Lines far from each other, and more instructions than one table entry holds."""
    text = "def far():\n" + "".join(f"    x{i} = [{i}, (lambda: {i})()]\n" + "\n" * (i % 300) for i in range(400)) + "    here()\n"
    names = {"here": here}
    exec(compile(text, "far.py", "exec"), names)
    names["far"]()


def freed(times):
    """Code whose place is taken by other code."""
    addresses = set()
    for i in range(times):
        code = compile("\n" * (i % 7) + f"def function{i % 1000}():\n    here()\nfunction{i % 1000}()", f"file{i}.py", "exec")
        addresses.add(id(code))
        exec(code, {"here": here})
    assert len(addresses) < times, "no address was used twice: the test shows nothing"


def of_threads(times):
    def work(number):
        def call(depth):
            if depth == 0:
                return here()
            try:
                call(depth - 1)
                if (depth + number) % 3 == 0:
                    raise KeyError(depth)
            except KeyError:
                return here()
            return None

        for i in range(times):
            call(i % 13)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def beside_others():
    seen = []
    faulthandler.enable()
    for setter in (sys.setprofile, sys.settrace):
        setter(lambda frame, event, arg: seen.append(event))
        try:
            raises()
            deep(3)
            for _ in generator():
                pass
        finally:
            setter(None)
    assert seen
    if hasattr(sys, "monitoring"):
        sys.monitoring.use_tool_id(3, "test")
        sys.monitoring.register_callback(3, sys.monitoring.events.LINE, lambda code, line: None)
        sys.monitoring.set_events(3, sys.monitoring.events.LINE)
        raises()
        deep(3)
        sys.monitoring.set_events(3, 0)
        sys.monitoring.free_tool_id(3)


def greenlets():
    try:
        import greenlet
    except ImportError:
        return "no greenlet"

    def one():
        here()
        other.switch()
        here()

    def two():
        here()
        deep(20)
        first.switch()

    first, other = greenlet.greenlet(one), greenlet.greenlet(two)
    first.switch()
    here()
    return "greenlets"


def subinterpreter():
    """Calls that another interpreter runs on this thread are not recorded; they must not disturb."""
    try:
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
    except ImportError:
        return "no subinterpreters"
    made = interpreters.create()
    run = getattr(interpreters, "run_string", None) or interpreters.exec
    code = (f"import ctypes\nl = ctypes.CDLL({sys.argv[1]!r})\nt = ctypes.create_string_buffer(100000)\nassert l.memoir_test_frames(t, 100000) >= 0\n")
    note = "a subinterpreter"
    try:
        run(made, code)
    except Exception as error:
        if "does not support loading in subinterpreters" not in str(error):  # ctypes of 3.12
            raise
        note += " without ctypes"
    interpreters.destroy(made)
    here()
    return note


def main():
    long = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    sys.setrecursionlimit(5000)
    here()
    plain()
    for depth in (0, 1, 30, 900, 1000, 1022):
        deep(depth)
    list(generator())
    inside_decorators()
    body = Body()
    body.method()
    body.attribute
    del body
    gc.collect()
    asyncio.run(waits())
    raises()
    made_of_text()
    calls_back()
    long_function()
    beside_others()
    notes = [greenlets(), subinterpreter()]
    freed(1000 * long)
    of_threads(200 * long)
    here()
    for failure in _failures:
        print("DIFFERENT", failure)
    print(f"Python {sys.version.split()[0]}: {_compared} stacks compared, {', '.join(notes)}: {'DIFFERENT' if _failures else 'equal'}")
    sys.stdout.flush()
    os._exit(1 if _failures else 0)


main()
