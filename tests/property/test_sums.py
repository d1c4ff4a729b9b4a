"""The sum closes: after every event, and by every grouping, live bytes are what an independent allocator counted."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("random_program.py")
GROUPINGS = {"operator": "operators", "module": "modules", "thread": "threads", "range": "ranges", "shape": "shapes",
             "line": "lines", "category,line": "line_categories"}


def record(tree, folder, seed, threads):
    books, capture = folder / "books", folder / "capture"
    environment = {**os.environ, "PYTHONPATH": str(tree / "lib" / "memoir" / "python")}
    done = subprocess.run([sys.executable, PROGRAM, str(seed), str(threads), books, capture],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in books.read_text().splitlines()]
    return [(kind == "a", int(address), int(size), int(live)) for kind, address, size, live in lines], capture


def events(tree, capture):
    """The (allocate?, address, bytes) events between the marks, in the capture's order."""
    done = subprocess.run([tree / "bin" / "memoir", "export", "events", capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    inside, found = False, []
    for event in map(json.loads, done.stdout.splitlines()):
        if event["event"] == "mark":
            inside = event["name"] == "begin" or (inside and event["name"] != "end")
        elif inside and event["event"] in ("allocate", "deallocate"):
            found.append((event["event"] == "allocate", int(event["address"], 16), event["bytes"]))
    return found


def peak_of(seen):
    """The most bytes live at once among the blocks that these events allocate."""
    live = peak = 0
    mine = {}
    for allocate, address, size in seen:
        if allocate:
            mine[address] = size
            live += size
            peak = max(peak, live)
        else:
            live -= mine.pop(address, 0)     # one from before the marks is not among them
    return peak


def show(tree, capture, *options):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", *options, capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.in_turn(always=3)
@pytest.mark.parametrize("seed", range(12))
def test_one_thread_after_every_event(tree, tmp_path, seed):
    books, capture = record(tree, tmp_path, seed, threads=1)
    assert len(books) > 100
    live, mine = 0, {}
    seen = [e for e in events(tree, capture)]
    known = {address for allocate, address, _, _ in books if allocate}
    seen = [e for e in seen if e[0] or e[1] in known]      # blocks from before the books were opened are not in them
    assert [(e[0], e[1]) for e in seen] == [(b[0], b[1]) for b in books]
    for (allocate, address, size), (_, _, counted, counted_live) in zip(seen, books):
        if allocate:
            mine[address] = size
            live += size
            assert size == counted
        else:
            live -= mine.pop(address)
        assert live == counted_live


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("seed", range(100, 108))
def test_threads_and_every_grouping(tree, tmp_path, seed):
    books, capture = record(tree, tmp_path, seed, threads=4)
    allocated = sum(size for allocate, _, size, _ in books if allocate)
    seen = events(tree, capture)
    assert sum(size for allocate, _, size in seen if allocate) == allocated
    # Every address has the same history on both sides, whatever the threads did.
    for address in {b[1] for b in books}:
        assert [e[0] for e in seen if e[1] == address] == [b[0] for b in books if b[1] == address]
    # Memoir stamps an allocation after it and a free before it, so what it holds live is never more than was, and less
    # by at most the one block that each thread has under way.
    peak, most = peak_of(seen), max(live for _, _, _, live in books)
    assert most - 4 * max(size for _, _, size, _ in books) <= peak <= most
    for grouping, rows in GROUPINGS.items():
        report = show(tree, capture, "--by", grouping)
        device = report["devices"][0]
        assert report["dropped_events"] == 0
        assert sum(row["allocated_bytes"] for row in report[rows]) == device["allocated_bytes"] >= allocated
        assert sum(row["net_bytes"] for row in report[rows]) == device["live_bytes_at_end"]
        assert sum(row["bytes_at_peak"] for row in report[rows]) == device["peak_allocated_bytes"]
        assert device["peak_allocated_bytes"] >= peak
