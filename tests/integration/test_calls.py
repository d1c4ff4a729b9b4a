"""Calls of Python functions (--stacks calls): the capture has the calls that a profile function of the program's sees, on every thread; and the program behaves
as without Memoir. Trees of them: tests/conformance/test_profiler_tree.py."""

import json
import subprocess
import sys

import pytest

from python_calls import CALLS, assert_balanced, calls_of_threads, inside, nested
from recording import events, record, run_explicit, run_memoir, show

# Each thread notes what a profile function is told between begin() and end_here(), and does the same things with calls.
SAID = r'''
import asyncio, gc, json, re, sys, threading, torch
SAID = {}
def name_of(event, frame, argument):
    if event.startswith("c_"):
        return re.sub(" at 0x[0-9a-f]+>$", ">", repr(argument))
    return getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
def note(frame, event, argument):
    names = SAID.setdefault(threading.current_thread().name, [])
    names.append("end" if event in ("return", "c_return", "c_exception") else name_of(event, frame, argument))
def begin(): pass
def end_here(): pass
def count(left):
    for i in range(left):
        yield i
def raises(depth):
    if depth: return raises(depth - 1)
    raise KeyError(depth)
def catches():
    try: raises(20)
    except KeyError: pass
def deep(left): return deep(left - 1) if left else len("abc")
class Dies:
    def __del__(self): len("dies")
def generators():
    generator = count(5)
    next(generator); generator.send(None); list(generator)
    thrown = count(3); next(thrown)
    try: thrown.throw(ValueError)
    except ValueError: pass
    left = count(3); next(left); left.close()
async def waits(): await asyncio.sleep(0); return 1
def does():
    begin()
    generators(); catches(); deep(700)
    sorted([3, 1, 2], key=lambda x: -x)
    class Body: field = max([1, 2])
    list(map(str.upper, "ab")); [x for x in count(3)]; "".join(c for c in "ab")
    Dies(); exec("def made(): return abs(-1)\nmade()", {})
    try: int("no")
    except ValueError: pass
    torch.add(torch.ones(1), torch.ones(1)).sum().item()
    end_here()
'''


@pytest.mark.parametrize("threads", [0, 8])
def test_calls_are_those_that_a_profile_function_is_told_of(tree, tmp_path, threads):
    said = tmp_path / "said.json"
    source = SAID + f'''
def main():
    if {threads} == 0:
        sys.setprofile(note)
        assert sys.getprofile() is note
        does()
        sys.setprofile(None)
        assert sys.getprofile() is None
    else:
        threading.setprofile(note)
        threads = [threading.Thread(target=does, name=str(i)) for i in range({threads})]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        threading.setprofile(None)
main()
json.dump(SAID, open(sys.argv[1], "w"))
'''
    capture, done = record(tree, tmp_path, source, said, options=CALLS)
    # threading of 3.13, at its end, complains of what note() asks it for in a thread that ends; without Memoir, too.
    assert done.returncode == 0 and (done.stderr == "" or sys.version_info >= (3, 13))
    noted = [inside(names) for names in json.loads(said.read_text()).values() if "begin" in names]
    assert len(noted) == max(threads, 1) and all(len(names) > 1500 for names in noted)
    recorded = [inside(names) for names in calls_of_threads(events(tree, capture)).values() if "begin" in names]
    assert sorted(recorded) == sorted(noted)


def test_calls_nest_as_the_program_makes_them(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import torch, threading
def leaf(): return len("abc")
def twice(): leaf(); leaf()
def fails():
    leaf()
    raise ValueError
def numbers():
    yield 1
    leaf()
    yield 2
def main():
    twice()
    try: fails()
    except ValueError: pass
    for _ in numbers(): pass
main()
''', options=CALLS)
    assert (done.returncode, done.stderr) == (0, "")
    length = "<built-in function len>"
    assert nested(events(tree, capture)) == [
        (0, "main"), (1, "twice"), (2, "leaf"), (3, length), (2, "leaf"), (3, length), (1, "fails"), (2, "leaf"), (3, length),
        (1, "numbers"), (1, "numbers"), (2, "leaf"), (3, length), (1, "numbers")]  # fmt: skip


def test_a_thread_that_is_started_later_is_seen_from_its_beginning(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import _thread, threading, torch
done = threading.Event()
def leaf(): pass
def work():
    leaf()
    done.set()
def main():
    thread = threading.Thread(target=leaf); thread.start(); thread.join()
    _thread.start_new_thread(work, ()); done.wait()
main()
''', options=CALLS)
    assert (done.returncode, done.stderr) == (0, "")
    calls = list(calls_of_threads(events(tree, capture)).values())
    bootstrap = "_bootstrap" if sys.version_info < (3, 11) else "Thread._bootstrap"  # before, code has no qualified name
    assert any(bootstrap in names and "leaf" in names for names in calls)
    assert any(names[0] == "work" and "leaf" in names for names in calls)


ALONE = {
    "a profile function of the program": SAID + '''
def main():
    sys.setprofile(note)
    does()
    sys.setprofile(None)
main()
# From 3.12 on Memoir has Python tell it of calls, and so Python tells the function that it was set, too.
first = [name.index("does") if sys.version_info >= (3, 12) else 0 for name in SAID.values()]
print([(len(name) - at, [n for n in name[at:] if "0x" not in n]) for at, name in zip(first, SAID.values())], sys.getprofile())
''',
    "cProfile": SAID + '''
import cProfile, pstats
profile = cProfile.Profile()
profile.enable(); does(); does(); profile.disable()
rows = pstats.Stats(profile).stats
print(sorted((key[2], row[:2]) for key, row in rows.items() if "0x" not in key[2]))
''',
    "the recursion limit": '''
import sys, torch
depth = 0
def down():
    global depth
    depth += 1
    down()
def main():
    global depth
    for limit in (200, 1000, 3000):
        sys.setrecursionlimit(limit)
        depth = 0
        try: down()
        except RecursionError as error: print(limit, depth, error)
main()
''',
    "a fork": '''
import os, torch, warnings
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # from 3.12 on: Memoir's thread is one
def work(): return torch.ones(3).sum().item()
def main():
    print(work(), flush=True)
    child = os.fork()
    if child == 0:
        print(work(), flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1], work())
main()
''',
    "threads that throw": '''
import threading, torch
left = [0] * 8
def down(n, number):
    if n == 0:
        left[number] += 1
        raise KeyError(number)
    torch.ones(1)
    down(n - 1, number)
def work(number):
    for _ in range(300):
        try: down(number + 3, number)
        except KeyError: pass
def main():
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(left)
main()
''',
    "a trace function": '''
import sys, torch
lines = []
def trace(frame, event, argument):
    if frame.f_code.co_name in ("work", "main"): lines.append((event, frame.f_code.co_name, frame.f_lineno))
    return trace
def work(n):
    x = torch.ones(n)
    return x
def main():
    sys.settrace(trace); work(1); work(2); sys.settrace(None)
main()
print(lines)
''',
    "training": '''
import torch, warnings
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    loss = model(torch.randn(2, 4)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print(loss.item(), [p.grad.sum().item() for p in model.parameters()])
warnings.warn("of the program")
''',
}


@pytest.mark.in_turn(always=3)
@pytest.mark.parametrize("case", ALONE)
def test_the_program_does_what_it_does_alone(tree, tmp_path, case):
    program = tmp_path / "program.py"
    program.write_text(ALONE[case])
    alone = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    capture, done = record(tree, tmp_path, ALONE[case], options=CALLS)
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, alone.stderr) and alone.stdout
    found = events(tree, capture)
    assert_balanced(found)
    assert any(event["event"] == "call_begin" and event["function"] in ("main", "<module>") for event in found)


def test_another_profiler_in_our_place_is_found_again(tree, tmp_path):
    """cProfile replaces the profile function without a notification; calls are recorded again from the next call of a module on, and cProfile still counts."""
    capture, done = record(tree, tmp_path, '''
import cProfile, pstats, torch
relu = torch.nn.ReLU()
def later(): pass
def main():
    profile = cProfile.Profile()
    profile.enable()
    relu(torch.ones(1)); later()
    profile.disable()
    relu(torch.ones(1)); later()
    print(sum(row[0] for key, row in pstats.Stats(profile).stats.items() if key[2] == "later"))
main()
''', options=CALLS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert [function for _, function in nested(events(tree, capture))].count("later") == 2


def test_torch_profiler_takes_its_function_from_all_threads(tree, tmp_path):
    """At its end it looks for those whose profile function it is; what is called afterwards would use what it has freed."""
    capture, done = record(tree, tmp_path, '''
import threading, time, torch
stop = False
def spin():
    while not stop: time.sleep(0.001)
def later(): pass
def main():
    global stop
    threads = [threading.Thread(target=spin) for _ in range(4)]
    for thread in threads: thread.start()
    for _ in range(3):
        with torch.profiler.profile(with_stack=True, acc_events=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profiler: torch.ones(3).sum()
    stop = True
    for thread in threads: thread.join()
    later()
    print(len(profiler.events()) > 0)
main()
''', options=CALLS)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    found = events(tree, capture)
    assert_balanced(found)
    assert [function for _, function in nested(found)].count("later") == 1


def test_stop_and_start_in_the_middle_of_calls(tree, tmp_path):
    done = run_explicit(tree, tmp_path, '''
import sys, torch, memoir
first, second = sys.argv[1:]
def leaf(): return torch.ones(1)
def inner():
    leaf(); memoir.stop(); leaf()
    memoir.start(second, stacks="calls", quiet=True); leaf()
def outer(): inner(); leaf()
def main():
    memoir.start(first, stacks="calls", quiet=True)
    outer(); leaf()
    memoir.stop()
    assert sys.getprofile() is None
    leaf()
main()
''', tmp_path / "first", tmp_path / "second")
    assert (done.returncode, done.stderr) == (0, "")
    own = [("main", "outer", "inner", "leaf")]
    first = [line for line in nested(events(tree, tmp_path / "first")) if line[1] in own[0]]
    second = [line for line in nested(events(tree, tmp_path / "second")) if line[1] in own[0]]
    assert first == [(0, "main"), (1, "outer"), (2, "inner"), (3, "leaf")]
    assert second == [(0, "main"), (1, "outer"), (2, "inner"), (3, "leaf"), (2, "leaf"), (1, "leaf")]


def test_pauses(tree, tmp_path):
    done = run_explicit(tree, tmp_path, '''
import sys, torch, memoir
def seen(): pass
def unseen(): pass
def work():
    seen(); memoir.pause(); unseen(); memoir.resume(); seen()
def main():
    work(); seen()
memoir.start(sys.argv[1], stacks="calls", quiet=True)
main()
memoir.stop()
''', tmp_path / "capture")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line for line in nested(events(tree, tmp_path / "capture")) if line[1] in ("main", "work", "seen", "unseen")]
    assert lines == [(0, "main"), (1, "work"), (2, "seen"), (0, "main"), (1, "work"), (2, "seen"), (1, "seen")]


def test_calls_deeper_than_there_is_room_for_are_counted(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import sys, torch
sys.setrecursionlimit(20000)
def down(left): return down(left - 1) if left else torch.ones(1)
def main(): return down(9000)
main(); main()
''', options=CALLS)
    assert (done.returncode, done.stderr) == (0, "")
    found = events(tree, capture)
    assert_balanced(found)
    assert max(event["around"] for event in found if event["event"] == "call_begin") == 7999
    report = show(tree, capture)
    lost, = [process["deep_calls"] for process in report["processes"]]
    assert 2000 < lost < 2 * 9010 - 2 * 7990
    assert f"{lost:,} calls of Python functions are not recorded" in run_memoir(tree, "show", capture).stdout


def test_a_forked_child_that_trains_has_calls_of_its_own(tree, tmp_path):
    capture, done = record(tree, tmp_path, '''
import os, torch
def of_the_child():
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters())
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
def main():
    torch.ones(1)
    child = os.fork()
    if child == 0:
        of_the_child()
        os._exit(0)
    print(os.waitpid(child, 0)[1])
main()
''', options=CALLS)
    assert (done.returncode, done.stdout) == (0, "0\n")
    found = events(tree, capture)
    assert_balanced(found)
    processes = {name: {event["process"] for event in found if event.get("function") == name} for name in ("main", "of_the_child")}
    assert len(processes["main"]) == 2, "what was open at the fork is open in the child"
    assert len(processes["of_the_child"]) == 1


def test_python_is_the_default_and_other_words_are_refused(tree, tmp_path):
    capture, done = record(tree, tmp_path, "import torch\ndef main(): torch.ones(1)\nmain()\n")
    assert done.returncode == 0
    found = {event["event"] for event in events(tree, capture)}
    assert "stack" in found and not found & {"call_begin", "call_end"}
    refused = run_memoir(tree, "run", "-o", tmp_path / "other", "--stacks", "all", "--", sys.executable, "-c", "import torch")
    assert "python, native, calls or off" in refused.stderr
    assert "--calls x: not one of own, all, none" in run_memoir(tree, "show", "--tree", "--calls", "x", capture).stderr
