"""Ordinary programs (ordinary_programs.py) behave under `memoir run` as without it, each in a separate process, with either kind of operators and with calls of
Python functions: the same results bit by bit, the same exceptions with the same stacks, warnings, compilations and reports of torch's own observers, and each
tensor dies at the same point. And Memoir recorded them. memray and jemalloc: test_beside_other_tools.py. Other Pythons: ./dev compat."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

from recording import each_event, events, record, show, without_times
from test_tiers import package

PROGRAMS = pathlib.Path(__file__).with_name("ordinary_programs.py")
KINDS = ["ranges", "dispatch"]
# Python stacks are recorded in each.
RECORDINGS = {"ranges": ["--ops", "ranges"], "dispatch": ["--ops", "dispatch"], "calls": ["--ops", "ranges", "--stacks", "calls", "--ring-size", "512MiB"]}

# Records that each program must have: ranges of that name, and calls of modules of that class, with either kind of operators; ranges of one kind only.
EXPECTED = {
    "threads": ({"aten::sin": 3 * 5, "SinBackward0": 3 * 5, "aten::mm": 3 * 5 * 3}, {"aten::linear": 3 * 5}, {"aten::linear": 0}),
    "exceptions": ({"aten::mm": 2, "aten::exp": 1, "FailsBackwardBackward": 1}, {"aten::linear": 1}, {"aten::linear": 0}),
    "inference_mode": ({"aten::linear": 1, "aten::matmul": 1, "module ReLU": 1}, {"aten::addmm": 1}, {"aten::addmm": 0}),
    "functorch": ({"aten::mm": 1, "SinBackward0": 1}, {"aten::matmul": 4}, {"aten::tanh": 1}),
    "subclasses": ({"aten::cumsum": 1, "aten::exp": 1, "MmBackward0": 1}, {"aten::linear": 2}, {"aten::linear": 0}),
    "checkpointing": ({"aten::addmm": 7, "aten::bernoulli_.float": 7, "AddmmBackward0": 3, "module Dropout": 7, "gradient in Linear": 6},
                      {"aten::dropout": 7}, {"aten::dropout": 0}),
    "double_backward": ({"aten::sin": 4, "aten::mm": 12}, {"aten::linear": 1}, {"aten::linear": 0}),
    "compiled": ({"CompiledFunctionBackward": 4 * 2}, {}, {"aten::linear": 0}),
    "execution_trace": ({"aten::addmm": 2 * 2, "Optimizer.step#SGD.step": 2}, {"aten::linear": 2 * 2}, {"aten::linear": 0}),
    "profiler": ({"aten::addmm": 8 * 2, "Optimizer.step#SGD.step": 8, "AddmmBackward0": 8 * 2}, {"aten::linear": 8 * 2}, {"aten::linear": 0}),
    "faults": ({"aten::mul.Tensor": 2, "DumpsBackward": 1}, {}, {}),
    # Inside a compiled region the region stands for the modules in it.
    "inductor": ({"CompiledFunctionBackward": 3, "module Sequential": 3, "module Linear": 0, "gradient in Linear": 12}, {}, {}),
}


def environment(folder):
    # The bare run compiles and the others load: with other graphs they would compile again.
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCH_LOGS": "recompiles"}


@pytest.fixture(scope="module")
def common(tmp_path_factory):
    return tmp_path_factory.mktemp("common")


def asked_for(session, *tests):
    """The cases of these tests that were chosen."""
    return [item.callspec.params for item in session.items if getattr(item, "originalname", "") in tests]


@pytest.fixture(scope="module")
def alone(common, request):
    """By program that a chosen test asks for: what it shows, and its lines on standard error. These processes were forked after torch's import, to save its
    time."""
    cases = asked_for(request.session, "test_a_program_is_recorded_and_none_the_wiser", "test_a_program_shows_what_it_is_for")
    wanted = [program for program in EXPECTED if program in {case["program"] for case in cases}]
    done = subprocess.run([sys.executable, PROGRAMS, "--apart", common, *wanted], env=environment(common), capture_output=True, text=True, timeout=600)
    errors = {program: (common / f"{program}.err").read_text() for program in wanted}
    assert (done.returncode, done.stderr) == (0, ""), errors
    return {program: (json.loads((common / f"{program}.out").read_text())[program], without_times(errors[program])) for program in wanted}


class Recorded:
    """One program under `memoir run`: what it shows, its lines on standard error, and the counts that the capture has of it."""

    def __init__(self, tree, common, folder, kind, program, python=(sys.executable,), **options):
        folder.mkdir(exist_ok=True)
        capture = folder / "capture"
        command = [tree / "bin" / "memoir", "run", "-q", *RECORDINGS[kind], "-o", capture, "--", *python, PROGRAMS, folder, program]
        done = subprocess.run(command, env=environment(common), capture_output=True, text=True, timeout=600, **options)
        assert done.returncode == 0, done.stderr
        self.said, self.errors = json.loads(done.stdout)[program], without_times(done.stderr)
        report = show(tree, capture)
        self.dropped_events, self.lost_records = report["dropped_events"], report["lost_records"]
        self.sources = report["processes"][0]["sources"]
        self.calls = 0
        self.counts = ranges_of_programs(self._seen(tree, capture))[program]

    def _seen(self, tree, capture):
        for event in each_event(tree, capture):
            self.calls += event["event"] == "call_begin"
            yield event


@pytest.fixture(scope="module")
def recorded(tree, common, alone, tmp_path_factory, request):
    """By kind and program, those that a selected test asks for, two at a time."""
    asked = asked_for(request.session, "test_a_program_is_recorded_and_none_the_wiser")
    folder = tmp_path_factory.mktemp("recorded")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield {(of["kind"], of["program"]): pool.submit(Recorded, tree, common, folder / f"{of['kind']}_{of['program']}", of["kind"], of["program"])
               for of in asked}
        pool.shutdown(cancel_futures=True)


def expected_counts(program, kind):
    both, *one = EXPECTED[program]
    return {**both, **one[kind == "dispatch"]}


def ranges_of_programs(found):
    programs, counts = {}, collections.Counter()
    for event in found:
        if event["event"] == "mark":
            name, what = event["name"].split()
            counts = collections.Counter()
            if what == "begins":
                programs[name] = counts
        elif event["event"] == "range_begin":
            counts[event.get("name", "its begin was lost")] += 1
        elif event["event"] == "module_enter":
            counts[f"{'gradient in' if event.get('of_gradient') else 'module'} {event['class']}"] += 1
    return programs


@pytest.mark.in_turn(always=2)
@pytest.mark.parametrize("program", EXPECTED)
@pytest.mark.parametrize("kind", RECORDINGS)
def test_a_program_is_recorded_and_none_the_wiser(alone, recorded, kind, program):
    run = recorded[kind, program].result()
    assert len(alone[program][0]) > 0
    assert (run.said, run.errors) == alone[program]
    expected = expected_counts(program, kind)
    assert {name: run.counts[name] for name in expected} == expected
    assert (run.dropped_events, run.lost_records) == (0, 0)
    assert "python-stacks" in run.sources and (run.calls > 100) == (kind == "calls")


# How often what they print contains these texts; 1: once or more.
SHOWN = {"threads": {"is gone": 3 * 5}, "exceptions": {"Traceback": 8, "in a backward node": 1}, "checkpointing": {"is gone": 1},
         "double_backward": {"y is gone": 1}, "compiled": {"unique_graphs": 1}, "inductor": {"unique_graphs": 1}, "profiler": {"aten::addmm": 1},
         "execution_trace": {"aten::addmm": 1}, "faults": {"in dump": 2}}


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("program", SHOWN)
def test_a_program_shows_what_it_is_for(alone, program):
    """A comparison of nothing with nothing would hold, too."""
    lines, errors = alone[program]
    said = "\n".join(lines)
    assert {text: said.count(text) if wanted > 1 else min(said.count(text), 1) for text, wanted in SHOWN[program].items()} == SHOWN[program]
    assert program not in ("compiled", "inductor") or any("Recompiling" in line for line in errors)


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("option", ["-I", "-E"])
def test_a_python_that_ignores_its_variables(tree, common, package, tmp_path, option):
    """With Memoir next to torch, where it needs no variable."""
    bare = subprocess.run([package, option, PROGRAMS, tmp_path, "checkpointing"], env=environment(common), capture_output=True, text=True, timeout=300)
    run = Recorded(tree, common, tmp_path, "ranges", "checkpointing", [package, option])
    assert run.said == json.loads(bare.stdout)["checkpointing"] and run.errors == without_times(bare.stderr)
    expected = expected_counts("checkpointing", "ranges")
    assert {name: run.counts[name] for name in expected} == expected


NOBODY = 65534


@pytest.fixture
def setuid():
    """A folder that every user can write to, with a setuid-root Python: the loader preloads nothing into it."""
    if os.geteuid() != 0:
        pytest.skip("a program of another user's takes root")
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        folder.chmod(0o1777)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--copies", folder / "python"], check=True)
        ours, = pathlib.Path(sys.prefix).glob("lib/python*/site-packages")
        site, = folder.glob("python/lib/python*/site-packages")
        (site / "torch.pth").write_text(f"{ours}\n")
        python = folder / "python" / "bin" / "python3"
        python.chmod(0o4755)
        yield folder, python


def test_a_setuid_program(tree, common, setuid):
    folder, python = setuid
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    ids = subprocess.run([python, "-c", "import os; print(os.getuid(), os.geteuid())"], capture_output=True, text=True, **other)
    if ids.stdout.split() != [str(NOBODY), "0"]:
        pytest.skip(f"no setuid programs here, or no Python that others may run: {ids.stdout}{ids.stderr}")
    if subprocess.run(["test", "-x", tree / "bin" / "memoir"], **other).returncode != 0:
        pytest.skip(f"others cannot see {tree}")
    (folder / "run").mkdir(mode=0o777)
    (folder / "run").chmod(0o777)
    bare = subprocess.run([python, PROGRAMS, folder, "checkpointing"], env=environment(common), capture_output=True, text=True, timeout=300, **other)
    run = Recorded(tree, common, folder / "run", "ranges", "checkpointing", [python], **other)
    assert run.said == json.loads(bare.stdout)["checkpointing"]
    # The capture of such a program belongs to root, not to the user who started it: one line reports it.
    errors = [line for line in run.errors if not re.search(r"^memoir: .*\.memoir: cannot be opened \(Permission denied\)", line)]
    assert errors == without_times(bare.stderr) and len(run.errors) == len(errors) + 1
    expected = expected_counts("checkpointing", "ranges")
    assert {name: run.counts[name] for name in expected} == expected


CRASH = '''
import faulthandler, torch
faulthandler.enable()
class Crash(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        faulthandler._sigsegv()
torch.nn.functional.linear(torch.ones(2, 2), torch.ones(2, 2))
Crash.apply(torch.ones(3))
'''


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_shows_its_own_stack(tree, tmp_path, kind):
    capture, done = record(tree, tmp_path, CRASH, options=("--ops", kind))
    bare = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True)
    stack = [line for line in bare.stderr.splitlines() if line.startswith(("Fatal", "  File"))]
    assert stack[0].startswith("Fatal Python error: Segmentation fault") and any("in forward" in line for line in stack)
    assert [line for line in done.stderr.splitlines() if line.startswith(("Fatal", "  File"))] == stack
    names = [e["name"] for e in events(tree, capture) if e["event"] == "range_begin"]
    assert ("aten::linear" if kind == "ranges" else "aten::mm") in names and names[-1] == {"ranges": "Crash", "dispatch": "aten::ones"}[kind]
