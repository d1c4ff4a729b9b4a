"""`--ops dispatch` beyond what it records (tests/conformance/test_dispatch.py): compiled programs, a key that is taken, threads, failures."""

import json
import subprocess
import sys

from recording import counts, events, record, run_explicit, run_memoir, show

DISPATCH = ("--ops", "dispatch")


def sources(found):
    return {e["source"] for e in found if e["event"] == "range_begin"}


def operators(found, thread=None):
    return [e["name"] for e in found if e["event"] == "range_begin" and e["source"] == "dispatch" and thread in (None, e["thread"])]


def threads(found):
    """The threads that ran operators, in the order of their first ones. Memoir's own thread also has a number, for host readings."""
    return list(dict.fromkeys(e["thread"] for e in found if e["event"] == "range_begin"))


TRAINING = '''
import torch
model = torch.nn.Linear(8, 4)
with torch.profiler.record_function("forward"):
    loss = model(torch.ones(2, 8)).sum()
loss.backward()
'''


def test_operators_below_autograd_with_their_bytes(tree, tmp_path):
    capture, done = record(tree, tmp_path, TRAINING, options=DISPATCH)
    assert done.returncode == 0, done.stderr
    report, found = show(tree, capture), events(tree, capture)
    assert report["processes"][0]["sources"] == ["dispatch", "cpu-allocator", "modules", "python-stacks", "cuda-kernels"]
    assert sources(found) == {"dispatch", "backward", "user"}
    assert counts(report)["aten::addmm"] == 1 and "aten::linear" not in counts(report)
    assert next(row for row in report["operators"] if row["name"] == "aten::addmm")["allocated_bytes"] == 2 * 4 * 4
    inside = next(e for e in found if e["event"] == "range_begin" and e["name"] == "aten::addmm")
    assert inside["depth"] == 1 and inside["kinds"] == "TTTii" and [t["sizes"] for t in inside["tensors"]] == [[4], [2, 8], [8, 4]]
    node = next(e for e in found if e["event"] == "range_begin" and e["name"] == "AddmmBackward0")
    assert node["sequence"] == inside["sequence"]
    text = run_memoir(tree, "show", capture).stdout
    assert "operator calls below autograd (--ops dispatch)" in " ".join(text.split())
    tree_view = json.dumps(show(tree, capture, "--tree"))
    assert '"dispatch"' in tree_view and '"function"' not in tree_view


FAILING = '''
import torch
for _ in range(3):
    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError:
        pass
torch.ones(5)
'''


def test_operators_that_fail_end(tree, tmp_path):
    capture, done = record(tree, tmp_path, FAILING, options=DISPATCH)
    assert done.returncode == 0, done.stderr
    found = events(tree, capture)
    assert operators(found) == ["aten::ones", "aten::ones", "aten::mm"] * 3 + ["aten::ones"]
    begins, ends = ([e for e in found if e["event"] == f"range_{what}"] for what in ("begin", "end"))
    assert {e["depth"] for e in begins} == {0} and len(ends) == len(begins) and not any(e.get("implicit") for e in ends)
    assert not any(e.get("kinds") for e in ends if e["name"] == "aten::mm")


# Graphs and compilations, also of a second thread and of torch.cond, which finds its kernel in Python.
COMPILED = '''
import json, sys, threading, torch, warnings
from torch._dynamo.utils import counters

warned = []
warnings.showwarning = lambda message, *more: warned.append(str(message))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
step = torch.compile(lambda x: model(x).square().mean(), backend="aot_eager")
branch = torch.compile(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), backend="eager")
losses = []

def train(size):
    loss = step(torch.full((size, 8), 0.5))
    loss.backward()
    losses.append([loss.item().hex(), branch(torch.full((size, 2), 1.0)).sum().item().hex()])

for size in (4, 4, 6, 7):
    train(size)
thread = threading.Thread(target=train, args=(7,))
thread.start(); thread.join()
print(json.dumps([losses, counters["stats"], counters["frames"], dict(counters["graph_break"]), warned]))
'''


def test_compiled_programs_are_compiled_as_often(tree, tmp_path):
    capture, done = record(tree, tmp_path, COMPILED, options=DISPATCH)
    assert done.returncode == 0, done.stderr
    bare = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=300)
    assert bare.returncode == 0, bare.stderr
    assert json.loads(done.stdout) == json.loads(bare.stdout)
    assert json.loads(bare.stdout)[1]["unique_graphs"] >= 2
    found = events(tree, capture)
    assert operators(found).count("aten::addmm") >= 5 * 2 and operators(found).count("aten::sin") >= 5


TAKEN = '''
import sys, torch, memoir
library = torch.library.Library("_", "IMPL", "Fake")
library.fallback(lambda op, *args, **kwargs: None)       # never reached: no thread includes the key
memoir.start(sys.argv[1], ops="dispatch")
torch.nn.functional.linear(torch.ones(2, 2), torch.ones(2, 2))
memoir.stop()
'''


def test_a_key_that_is_taken_is_left_alone(tree, tmp_path):
    done = run_explicit(tree, tmp_path, TAKEN, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("memoir:")] == [
        'memoir: ops=dispatch: another library has the dispatch key "Fake"; operators are recorded as ranges, above autograd']
    report = show(tree, tmp_path / "out")
    assert report["processes"][0]["sources"] == ["ranges", "cpu-allocator", "modules", "python-stacks", "cuda-kernels"]
    assert counts(report)["aten::linear"] == 1
    assert "below autograd" not in run_memoir(tree, "show", tmp_path / "out").stdout


# The thread runs operators before the recording. The recordings differ in source; in between, the fallback stays.
IN_TURN = '''
import queue, sys, threading, torch, memoir
jobs, done = queue.Queue(), queue.Queue()
def work():
    while (job := jobs.get()) is not None:
        done.put(job())
threading.Thread(target=work, daemon=True).start()
def in_thread(job):
    jobs.put(job)
    return done.get()

w = torch.ones(4, 4)
linear = lambda: torch.nn.functional.linear(w, w)
in_thread(linear)
for number, ops in enumerate(("dispatch", "ranges", "dispatch")):
    memoir.start(f"{sys.argv[1]}/{number}", ops=ops, quiet=True)
    linear(), in_thread(lambda: torch.empty(1)), in_thread(linear)
    memoir.stop()
    linear(), in_thread(linear)
'''


def test_recordings_of_both_kinds_in_turn(tree, tmp_path):
    done = run_explicit(tree, tmp_path, IN_TURN, tmp_path)
    assert done.returncode == 0, done.stderr
    first, second, third = (events(tree, tmp_path / str(number)) for number in range(3))
    main, other = threads(first)
    assert operators(first, main) == ["aten::t", "aten::mm"]
    assert operators(first, other) == ["aten::t", "aten::mm"], "all but the first, by which the fallback came to know the thread"
    assert sources(second) == {"function"}
    assert counts(show(tree, tmp_path / "1"))["aten::linear"] == 2
    main, other = threads(third)
    assert operators(third, main) == ["aten::t", "aten::mm"]
    assert operators(third, other) == ["aten::empty.memory_format", "aten::t", "aten::mm"]


def test_a_word_that_means_nothing_is_refused(tree, tmp_path):
    done = run_memoir(tree, "run", "--ops", "all", "-o", tmp_path / "out", "--", "true")
    assert done.returncode == 2 and "--ops=all: expected ranges or dispatch" in done.stderr
    done = run_explicit(tree, tmp_path, "import memoir\nmemoir.start('out', ops='all')")
    assert "ops=all is neither ranges nor dispatch" in done.stderr
