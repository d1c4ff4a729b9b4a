"""Ordinary programs (ordinary_programs.py) do under `memoir run`, with either kind of operators, what they do alone: the same results bit by bit, the same
exceptions with the same stacks, warnings, compilations and reports of torch's own observers, and each tensor dies when it died. And Memoir recorded them."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

from recording import events, record, show, without_times

PROGRAMS = pathlib.Path(__file__).with_name("ordinary_programs.py")
KINDS = ["ranges", "dispatch"]

# What must have been recorded of each program: ranges of that name, and calls of modules of that class, with either kind of operators; ranges with one of
# them alone.
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


def run(folder, *launcher):
    # What the first run compiles, the others load: they meet the same graphs, or would compile anew.
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder.parent / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": "1",
                   "TORCH_LOGS": "recompiles"}
    done = subprocess.run([*launcher, sys.executable, PROGRAMS, folder], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), without_times(done.stderr)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return run(tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module", params=KINDS)
def recorded(tree, tmp_path_factory, request):
    folder = tmp_path_factory.mktemp(request.param)
    said = run(folder, tree / "bin" / "memoir", "run", "-q", "--ops", request.param, "-o", folder / "capture", "--")
    assert show(tree, folder / "capture")["dropped_events"] == 0
    return request.param, *said, ranges_of_programs(events(tree, folder / "capture"))


def ranges_of_programs(found):
    programs, counts = {}, collections.Counter()
    for event in found:
        if event["event"] == "mark":
            name, what = event["name"].split()
            counts = collections.Counter()
            if what == "begins":
                programs[name] = counts
        elif event["event"] == "range_begin":
            counts[event["name"]] += 1
        elif event["event"] == "module_enter":
            counts[f"{'gradient in' if event.get('of_gradient') else 'module'} {event['class']}"] += 1
    return programs


@pytest.mark.parametrize("program", EXPECTED)
def test_a_program_is_recorded_and_none_the_wiser(alone, recorded, program):
    kind, said, _, ranges = recorded
    assert len(alone[0][program]) > 0
    assert said[program] == alone[0][program]
    both, *one = EXPECTED[program]
    expected = {**both, **one[KINDS.index(kind)]}
    assert {name: ranges[program][name] for name in expected} == expected


def test_nothing_new_on_standard_error(alone, recorded):
    assert recorded[2] == alone[1]


def test_the_programs_show_what_they_are_for(alone):
    """A comparison of nothing with nothing would hold, too."""
    said = {name: "\n".join(lines) for name, lines in alone[0].items()}
    assert set(said) == set(EXPECTED)
    assert said["threads"].count("is gone") == 3 * 5 and "is gone" in said["checkpointing"] and "y is gone" in said["double_backward"]
    assert said["exceptions"].count("Traceback") == 8 and "in a backward node" in said["exceptions"]
    assert "unique_graphs" in said["compiled"] and "unique_graphs" in said["inductor"] and "aten::addmm" in said["profiler"] and "aten::addmm" in said["execution_trace"]
    assert said["faults"].count("in dump") == 2
    assert sum("Recompiling" in line for line in alone[1]) > 1


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
