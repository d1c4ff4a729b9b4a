"""Stacks and calls together with other tools that read or change frames in the process: the program prints the same as without Memoir, and its lines are
right."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest

from python_calls import CALLS, assert_balanced
from recording import events, record, show
from test_stacks import SAID, stacks_of_blocks

WORK = '''
import threading
def deep(left): return deep(left - 1) if left else here()
def generator():
    here()
    yield deep(3)
    here()
def raises():
    try: raise KeyError
    except KeyError: here()
def work():
    for depth in range(10): deep(depth); raises(); list(generator())
'''

PROGRAMS = {
    # All at once: a profile and a trace function, tracebacks of all threads, another interpreter on another thread. Not dump_traceback_later, which looks
    # at frames while they run: without Memoir, too, Python dies of that now and then.
    "the standard library's": '''
import faulthandler, tempfile, time
try: import _interpreters as interpreters
except ImportError: import _xxsubinterpreters as interpreters
run = getattr(interpreters, "exec", None) or interpreters.run_string
OTHER = """
def call(left): return call(left - 1) if left else [str(i) for i in range(99)]
call(30)
for i in range(20): exec(compile(f"def f{i}(): return {i}\\\\nf{i}()", f"other{i}.py", "exec"))
"""
done, runs, told = False, 0, []
def others():
    global runs
    made = interpreters.create()
    while not done or not runs:
        run(made, OTHER)
        runs += 1
    interpreters.destroy(made)
def tell(frame, event, argument):
    if frame.f_code.co_name in ("deep", "generator", "raises"): told.append((event, frame.f_code.co_name, frame.f_lineno))
    return tell
with tempfile.TemporaryFile() as file:
    faulthandler.enable(file)
    def dumps():
        while not done: faulthandler.dump_traceback(file); time.sleep(0.002)
    threads = [threading.Thread(target=others), threading.Thread(target=dumps)]
    for thread in threads: thread.start()
    for setter in (sys.setprofile, sys.settrace):
        setter(tell); work(); setter(None)
    for _ in range(20): work()
    done = True
    for thread in threads: thread.join()
    faulthandler.disable()
    print(file.tell() > 0)
print(runs > 0, len(told), told[:99], told[-99:])
''',
    "greenlet": '''
import greenlet
def one(number):
    for depth in range(20):
        deep(depth + number)
        main.switch()
def from_inside(left): return from_inside(left - 1) if left else main.switch()
main = greenlet.getcurrent()
def switches():
    some = [greenlet.greenlet(one) for _ in range(5)] + [greenlet.greenlet(from_inside) for _ in range(5)]
    for _ in range(20):
        for number, other in enumerate(some):
            if not other.dead: other.switch(number)
            here()
switches()
thread = threading.Thread(target=lambda: work())
thread.start(); work(); thread.join()
print(len(SAID))
''',
    "coverage": '''
import coverage
watched = coverage.Coverage(data_file=None, branch=True)
watched.start()
work()
thread = threading.Thread(target=work)
thread.start(); thread.join()
watched.stop()
data = watched.get_data()
file, = [name for name in data.measured_files() if name.endswith("program.py")]
print(sorted(data.lines(file) or []), sorted(data.arcs(file) or []))
''',
    "debugpy": '''
import debugpy
debugpy.listen(("127.0.0.1", 0))
work()
debugpy.trace_this_thread(True)
thread = threading.Thread(target=work)
thread.start(); work(); thread.join()
print(len(SAID), debugpy.is_client_connected())
''',
}


def without_seconds(text):
    """debugpy's warnings begin with those since it started."""
    return re.sub(r"^\d+\.\d\ds - ", "", text, flags=re.MULTILINE)


@pytest.mark.in_turn(always=3)
@pytest.mark.parametrize("options", [[], CALLS], ids=["stacks", "calls"])
@pytest.mark.parametrize("other", PROGRAMS)
def test_lines_are_right_and_the_program_none_the_wiser(tree, tmp_path, other, options):
    if " " not in other and importlib.util.find_spec(other) is None:
        pytest.skip(f"{other} is not installed here")
    source, said = SAID + WORK + PROGRAMS[other] + "\nfinish()\n", tmp_path / "said.json"
    (tmp_path / "program.py").write_text(source)
    alone = subprocess.run([sys.executable, tmp_path / "program.py", said], capture_output=True, text=True, timeout=300)
    assert alone.returncode == 0 and alone.stdout, alone.stderr
    capture, done = record(tree, tmp_path, source, said, options=options)
    assert (done.returncode, done.stdout, without_seconds(done.stderr)) == (0, alone.stdout, without_seconds(alone.stderr))
    process, = show(tree, capture)["processes"]
    assert (process["dropped_events"], process["unread_stacks"]) == (0, 0)
    found, wanted = stacks_of_blocks(tree, capture), json.loads(said.read_text())
    assert len(wanted) > 60
    for size, frames in wanted.items():
        assert found[int(size)][0][1] == "here" and found[int(size)][1:] == frames
    if options:
        assert_balanced(events(tree, capture))
