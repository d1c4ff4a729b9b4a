"""Stacks by the million, deeper than is recorded, and code that comes and goes on many threads: lines stay right, what is left out is counted."""

import os

import pytest

from recording import record, show
from test_stacks import SAID, compare, stacks_of_blocks, with_frames

LONG = os.environ.get("MEMOIR_TEST_LONG", "0") not in ("", "0")

# A stack for each path down a binary tree of calls; a block's size encodes its path, and occurs once.
TREE = '''
import sys, torch
DEPTH, KEEPS = int(sys.argv[1]), sys.argv[2] == "keeps"
kept = []
def walk(depth, path):
    if depth == DEPTH:
        block = torch.empty(1000 + path, dtype=torch.uint8)
        if KEEPS: kept.append(block)
        return
    walk(depth + 1, 2 * path)
    walk(depth + 1, 2 * path + 1)
walk(0, 0)
'''
LEFT, RIGHT, LEAF = 10, 11, 7


def check_paths(tree, capture, depth):
    """How many blocks; each has the stack of its path."""
    stacks, count = {}, 0
    for event in with_frames(tree, capture):
        if event["event"] == "stack":
            stacks[event["thread"]] = event["frames"]
        if event["event"] != "allocate" or event.get("from_keyframe") or not 1000 <= event["bytes"] < 1000 + (1 << depth):
            continue
        path = event["bytes"] - 1000
        frames = stacks[event["thread"]]
        ways = [RIGHT if path >> level & 1 else LEFT for level in range(depth)]
        assert [frame["line"] for frame in frames[: depth + 1]] == [LEAF, *ways] and len(frames) == depth + 2
        count += 1
    return count


@pytest.mark.in_turn
def test_a_million_stacks(tree, tmp_path):
    """In the long form; in the short one an eighth. The newest are checked; the table has forgotten the older ones many times."""
    depth = 20 if LONG else 17
    capture, done = record(tree, tmp_path, TREE, depth, "drops", options=["--max-size", "4MB"])
    assert (done.returncode, done.stderr) == (0, "")
    process, = show(tree, capture)["processes"]
    assert (process["dropped_events"], process["cut_stacks"], process["unread_stacks"]) == (0, 0, 0)
    assert check_paths(tree, capture, depth) > 1000


def test_more_stacks_of_live_blocks_than_there_is_room_for(tree, tmp_path):
    """Forgotten by the writer, they are in the capture all the same; only keyframes leave them out."""
    capture, done = record(tree, tmp_path, TREE, 16, "keeps")
    assert (done.returncode, done.stderr) == (0, "")
    assert check_paths(tree, capture, 16) == 1 << 16
    report = show(tree, capture, "--by", "line", "--at", "end")
    rows = {(row["function"], row["line"]): row["blocks"] for row in report["devices"][0]["lines"]}
    assert rows["walk", LEAF] == 1 << 16 and report["processes"][0]["dropped_events"] == 0


def test_the_outermost_of_very_deep_ones_are_cut(tree, tmp_path):
    capture = compare(tree, tmp_path, '''
def deep(left): return deep(left - 1) if left else here()
sys.setrecursionlimit(5000)
for depth in (1000, 1020): deep(depth)
''', least=2)
    assert show(tree, capture)["processes"][0]["cut_stacks"] == 0
    (tmp_path / "cut").mkdir()
    capture, done = record(tree, tmp_path / "cut", SAID + '''
def deep(left): return deep(left - 1) if left else here()
sys.setrecursionlimit(5000)
deep(3000)
''')
    assert (done.returncode, done.stderr) == (0, "")
    assert show(tree, capture)["processes"][0]["cut_stacks"] == 1
    frames = stacks_of_blocks(tree, capture)[1000]
    assert [function for _, function, _ in frames] == ["here", *["deep"] * 1023]


def test_code_that_dies_on_other_threads(tree, tmp_path):
    """Four threads make functions, call and free them, in cycles too; four others run with stacks that stay. A block's size says whose it is."""
    times = 40000 if LONG else 2500
    capture, done = record(tree, tmp_path, '''
import gc, sys, threading, torch
times, places = int(sys.argv[1]), [set() for _ in range(4)]
def makes(number):
    for i in range(times):
        n = number * 1000 + i % 1000
        names = {"torch": torch}
        exec(compile("\\n" * (n % 7) + f"def f{n}():\\n    return torch.empty({1000 + n}, dtype=torch.uint8)", f"file{n}.py", "exec"), names)
        names["itself"] = names  # only the collector frees it
        names[f"f{n}"]()
        places[number].add(id(names[f"f{n}"].__code__))
        if i % 50 == 0: gc.collect()
def stays(number):
    def call(left): return call(left - 1) if left else torch.empty(10000 + number, dtype=torch.uint8)
    while not done: call(number)
done = False
threads = [threading.Thread(target=makes, args=(i,)) for i in range(4)]
others = [threading.Thread(target=stays, args=(i,)) for i in range(4)]
for thread in threads + others: thread.start()
for thread in threads: thread.join()
done = True
for thread in others: thread.join()
assert sum(map(len, places)) < 2 * times, "no address was used twice: the test shows nothing"
''', times, options=["--max-size", "8MB"])
    assert (done.returncode, done.stderr) == (0, "")
    process, = show(tree, capture)["processes"]
    assert (process["dropped_events"], process["unread_stacks"]) == (0, 0)
    stacks, made, stayed = {}, 0, 0
    for event in with_frames(tree, capture):
        if event["event"] == "stack":
            stacks[event["thread"]] = event["frames"]
        if event["event"] != "allocate" or event.get("from_keyframe"):
            continue
        frames = stacks[event["thread"]]
        if 1000 <= event["bytes"] < 5000:
            n = event["bytes"] - 1000
            assert (frames[0]["function"], frames[0]["file"], frames[0]["line"], frames[1]["function"]) == (f"f{n}", f"file{n}.py", 2 + n % 7, "makes")
            made += 1
        elif 10000 <= event["bytes"] < 10004:
            assert [frame["function"] for frame in frames].count("stays.<locals>.call") == event["bytes"] - 10000 + 1
            stayed += 1
    assert made > 500 and stayed > 500


def test_more_functions_than_there_is_room_for_names(tree, tmp_path):
    """Code beyond the limit has its line without a name."""
    capture, done = record(tree, tmp_path, '''
import torch
for i in range(40000):
    names = {"torch": torch}
    exec(compile(f"def f{i}(): return torch.empty(1000 + {i}, dtype=torch.uint8)\\nf{i}()", f"file{i}.py", "exec"), names)
''')
    assert (done.returncode, done.stderr) == (0, "")
    found = stacks_of_blocks(tree, capture)
    assert found[1000][0] == ["file0.py", "f0", 1] and found[1000 + 39999][0] == ["", "(unknown)", 1]
    assert found[1000 + 39999][2][1:] == ["<module>", 5], "known before"


@pytest.mark.in_turn
@pytest.mark.skipif(not LONG, reason="the long form, with MEMOIR_TEST_LONG=1; the short one is test_stacks.py::test_many_threads_call_return_and_throw")
def test_ten_million_allocations(tree, tmp_path):
    from test_stacks import call_return_and_throw

    assert call_return_and_throw(tree, tmp_path, times=470_000) > 10_000_000
