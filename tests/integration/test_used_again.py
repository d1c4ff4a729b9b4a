"""A folder that is used for several runs: the last one is shown, one line reports it, and the others can be selected."""

import json
import re
import sys

from recording import counts, run_memoir

PROGRAM = '''
import sys, torch
a = torch.ones(3)
for _ in range(int(sys.argv[1])): torch.add(a, a)
'''
# Two programs of one run, one after the other.
SCRIPT = 'for count in 3 4; do "$1" "$2" $count; done'


def adds(tree, capture, *options):
    done = run_memoir(tree, "show", "--json", *options, capture)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return counts(report)["aten::add.Tensor"], report["run"], report["runs"], len(report["processes"]), done.stderr


def test_runs_stay_apart(tree, tmp_path):
    program, capture = tmp_path / "program.py", tmp_path / "capture"
    program.write_text(PROGRAM)

    def record(*command):
        done = run_memoir(tree, "run", "-o", capture, "--", *command)
        assert done.returncode == 0, done.stderr
        return done.stderr

    record(sys.executable, program, "5")
    assert adds(tree, capture) == (5, 1, 1, 1, "")
    said = record("sh", "-c", SCRIPT, "sh", sys.executable, program)
    assert re.search(r"run 2 of 2, of \d\d:\d\d; --run 1 shows the other", said), said
    *found, line = adds(tree, capture)
    assert found == [7, 2, 2, 2] and re.fullmatch(r"memoir: run 2 of 2, of \d\d:\d\d; --run 1 shows the other\n", line)
    assert adds(tree, capture, "--run", "last")[:4] == (7, 2, 2, 2)
    *found, line = adds(tree, capture, "--run", "1")
    assert found == [5, 1, 2, 1] and "run 1 of 2" in line and "--run 2 shows the other" in line
    for verb in (["show", "--tree"], ["check"], ["explain"], ["export", "events"]):
        subject = ["aten::add#4"] if verb == ["explain"] else []
        first, last = (run_memoir(tree, *verb, "--run", run, capture, *subject) for run in ("1", "2"))
        assert "run 1 of 2" in first.stderr and "run 2 of 2" in last.stderr, verb
        assert first.returncode == 0 or verb == ["check"], (verb, first.stderr)
    events = run_memoir(tree, "export", "events", "--run", "1", capture).stdout
    assert events.count('"event":"process_begin"') == 1
    done = run_memoir(tree, "show", "--run", "3", capture)
    assert done.returncode == 1 and "no run 3, it holds 2 runs" in done.stderr
    assert run_memoir(tree, "show", "--run", "0", capture).returncode == 2
