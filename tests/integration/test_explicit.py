"""memoir.start, stop, mark and step, called by the program itself: again and again, in the wrong order, from children and threads."""

import os
import sys

from recording import counts, events, record, run_explicit, show

TWICE = '''
import sys, torch, memoir
a = torch.ones(4)
memoir.start(sys.argv[1] + "/first")
for _ in range(10): torch.add(a, a)
memoir.stop()
for _ in range(5): torch.add(a, a)
with memoir.session(sys.argv[1] + "/second"):
    for _ in range(20): torch.add(a, a)
    memoir.mark("here")
    memoir.step(); memoir.step()
'''


def test_two_recordings_one_after_the_other(tree, tmp_path):
    done = run_explicit(tree, tmp_path, TWICE, tmp_path)
    assert done.returncode == 0, done.stderr
    assert counts(show(tree, tmp_path / "first"))["aten::add.Tensor"] == 10
    assert counts(show(tree, tmp_path / "second"))["aten::add.Tensor"] == 20
    found = events(tree, tmp_path / "second")
    assert [e["name"] for e in found if e["event"] == "mark"] == ["here"]
    assert [e["step"] for e in found if e["event"] == "step"] == [0, 1]


AGAIN = '''
import sys, torch, memoir
for _ in range(2):
    with memoir.session(sys.argv[1] + "/capture"): torch.ones(4)
'''


def test_a_second_recording_into_a_folder_is_said(tree, tmp_path):
    done = run_explicit(tree, tmp_path, AGAIN, tmp_path)
    assert done.returncode == 0
    assert done.stderr == f"memoir: {tmp_path}/capture already holds a capture; this recording is added to it\n"
    assert counts(show(tree, tmp_path / "capture"))["aten::ones"] == 2


WRONG_THEN_RIGHT = '''
import sys, torch, memoir
def attempt(*arguments, **options):
    try: memoir.start(*arguments, **options)
    except RuntimeError as problem: print(problem)
open(sys.argv[1] + "/file", "w").close()
attempt(sys.argv[1] + "/file")
attempt(sys.argv[1] + "/capture", ring_size="much")
attempt(sys.argv[1] + "/capture", ring_sice="32MiB")
attempt(sys.argv[1] + "/capture", ring_dir=sys.argv[1] + "/nowhere")
memoir.stop()
memoir.start(sys.argv[1] + "/capture")
attempt(sys.argv[1] + "/other")
torch.add(torch.ones(4), 1)
'''


def test_failed_starts_stand_in_no_later_start_s_way(tree, tmp_path):
    done = run_explicit(tree, tmp_path, WRONG_THEN_RIGHT, tmp_path)
    assert done.returncode == 0, done.stderr
    file, size, option, ring, again = done.stdout.splitlines()
    assert str(tmp_path / "file") in file
    assert size == "ring_size=much is not a size; write 512MiB, 2.4GiB or a number of bytes"
    assert option == 'unknown setting "ring_sice"; did you mean ring_size?'
    assert str(tmp_path / "nowhere") in ring
    assert again.startswith("this process is being recorded already, into " + str(tmp_path / "capture"))
    assert counts(show(tree, tmp_path / "capture"))["aten::add.Tensor"] == 1
    assert not (tmp_path / "other").exists()


STARTS_AT_ONCE = '''
import sys, threading, torch, memoir
gate, results = threading.Barrier(8), []
def start(i):
    gate.wait()
    try: memoir.start(f"{sys.argv[1]}/{i}"); results.append("started")
    except RuntimeError as problem: results.append(str(problem))
threads = [threading.Thread(target=start, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
torch.add(torch.ones(4), 1)
memoir.stop()
assert results.count("started") == 1, results
assert sum("recorded already" in result for result in results) == 7, results
print(memoir.output_dir())
'''


def test_of_starts_at_once_one_records(tree, tmp_path):
    done = run_explicit(tree, tmp_path, STARTS_AT_ONCE, tmp_path)
    assert done.returncode == 0, done.stderr
    assert counts(show(tree, done.stdout.strip()))["aten::add.Tensor"] == 1


INSIDE_RUN = '''
import sys, torch, memoir
a = torch.ones(4)
with memoir.session(sys.argv[1] + "/inner"):
    torch.add(a, a)
torch.add(a, a)
'''


def test_a_start_under_memoir_run_is_passed_over_with_its_stop(tree, tmp_path):
    capture, done = record(tree, tmp_path, INSIDE_RUN, tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("memoir.start() ignored") == 1 and str(capture) in done.stderr
    assert counts(show(tree, capture))["aten::add.Tensor"] == 2
    assert not (tmp_path / "inner").exists()


CHILD_STARTS = '''
import os, sys, torch, memoir
torch.set_num_threads(1)
a = torch.ones(4)
memoir.start(sys.argv[1] + "/parent")
torch.add(a, a)
child = os.fork()
if child == 0:
    torch.neg(a)                             # nobody's
    memoir.start(sys.argv[1] + "/child")
    for _ in range(3): torch.mul(a, a)
    memoir.stop()
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
torch.add(a, a)
memoir.stop()
sys.exit(code)
'''


def test_a_forked_child_may_record_itself(tree, tmp_path):
    done = run_explicit(tree, tmp_path, CHILD_STARTS, tmp_path)
    assert done.returncode == 0, done.stderr
    parent, child = (counts(show(tree, tmp_path / who)) for who in ("parent", "child"))
    assert parent["aten::add.Tensor"] == 2 and "aten::mul.Tensor" not in parent
    assert child["aten::mul.Tensor"] == 3 and "aten::add.Tensor" not in child and "aten::neg" not in child


ODD_TEXTS = '''
import os, sys, torch, memoir
memoir.start(os.fsencode(sys.argv[1]) + b"/\\xff capture")
torch.ones(1)
for text in ["", "caf\\u00e9 \\U0001f525", "lone \\ud800 half", "x" * 5000, "nul\\0after", 7, None]:
    memoir.mark(text)
try: memoir.step(-1)
except ValueError as problem: assert "counted from 0" in str(problem)
memoir.step(2**63); memoir.step()
assert memoir.output_dir() == sys.argv[1] + "/\\udcff capture", ascii(memoir.output_dir())
'''


def test_odd_marks_steps_and_folders(tree, tmp_path):
    done = run_explicit(tree, tmp_path, ODD_TEXTS, tmp_path)
    assert done.returncode == 0, done.stderr
    found = events(tree, os.fsencode(tmp_path) + b"/\xff capture")
    assert [e["name"] for e in found if e["event"] == "mark"] == ["", "caf\u00e9 \U0001f525", "lone ? half", "x" * 1024, "nul", "7", "None"]
    assert [e["step"] for e in found if e["event"] == "step"] == [2**63, 2**63 + 1]


FLUSH_AND_STOP = '''
import sys, threading, torch, memoir
torch.set_num_threads(1)
a = torch.ones(4)
done = threading.Event()
def flush():
    while not done.is_set(): memoir.flush(); memoir.output_dir(); memoir.mark("x")
def compute():
    while not done.is_set(): torch.add(a, a)
threads = [threading.Thread(target=work) for work in (flush, flush, compute)]
for thread in threads: thread.start()
for i in range(20):
    with memoir.session(f"{sys.argv[1]}/{i}"):
        for _ in range(100): torch.mul(a, a)
done.set()
for thread in threads: thread.join()
'''


def test_flushes_meet_stops(tree, tmp_path):
    done = run_explicit(tree, tmp_path, FLUSH_AND_STOP, tmp_path)
    assert done.returncode == 0, done.stderr
    for i in range(20):
        report = show(tree, tmp_path / str(i))
        assert counts(report)["aten::mul.Tensor"] == 100 and report["dropped_events"] == 0


OTHER_VERSIONS = '''
import sys, torch, memoir
minor = ".".join(torch.__version__.split(".")[:2])
print(minor)
for version in "2.99.0+cpu", minor + ".0.dev20261120+cpu", minor + ".0a0+git1234567":   # unknown, a nightly, unreleased sources
    torch.__version__ = version
    try: memoir.start(sys.argv[1] + "/none")
    except RuntimeError as problem: print(problem)
    print(torch.ones(4).tolist())
torch.__version__ = minor + ".99+cpu"
memoir.start(sys.argv[1] + "/capture")
torch.add(torch.ones(4), 1)
'''


def test_a_tracker_serves_the_patches_of_its_minor_and_no_other(tree, tmp_path):
    done = run_explicit(tree, tmp_path, OTHER_VERSIONS, tmp_path)
    assert done.returncode == 0, done.stderr
    minor, *said = done.stdout.splitlines()
    assert said[1::2] == ["[1.0, 1.0, 1.0, 1.0]"] * 3
    for line, version in zip(said[::2], ("2.99", f"{minor}.0.dev20261120+cpu", f"{minor}.0a0+git1234567"), strict=True):
        assert line.startswith(f"no tracker for torch {version} (this Memoir has: 2."), line
        assert line.endswith(f"in Memoir's sources: {sys.executable} -m pip install ."), line
    assert counts(show(tree, tmp_path / "capture"))["aten::add.Tensor"] == 1 and not (tmp_path / "none").exists()
