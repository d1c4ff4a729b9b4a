"""PyTorch's test/dynamo/test_profiler.py, test by test under its own name: what it looks for in a trace of torch.profiler's must be there, and in Memoir's tree of the same run,
with or without torch.profiler. Ranges of torch's compilers are "torch.compile: NAME" here, by the names that their event logger has, and "NAME (dynamo_timed)" there.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys

import conformance
import pytest

SUITE = "test_dynamo_profiler.py"
PROGRAM = pathlib.Path(__file__).with_name("dynamo_profiler_programs.py")
LOOKUP = "TorchDynamo Cache Lookup"


@pytest.fixture(scope="module")
def run(tree, tmp_path_factory):
    """run(test): the names of torch's ranges, and Memoir's nodes inside the test's own."""
    folder = tmp_path_factory.mktemp("dynamo")
    command = [tree / "bin" / "memoir", "run", "-q", "-o", folder / "capture", "--", sys.executable, PROGRAM, folder / "found.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    by_torch = json.loads((folder / "found.json").read_text())

    def of(test):
        done = subprocess.run([tree / "bin" / "memoir", "export", "tree", "--range", test, folder / "capture"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return by_torch[test], [line for line in lines if "kind" in line]

    return of


def counted(test):
    @functools.wraps(test)
    def counting(run):
        with conformance.counted(SUITE, test.__name__) as count:
            test(run)
            count.blocks += 1

    return counting


def names(nodes):
    return [node.get("name", "") for node in nodes]


def inside(nodes, name):
    """Nodes of the ranges of this name, and below."""
    found, wanted = [], set()
    for node in nodes:
        if node.get("name") == name or node["parent"] in wanted:
            wanted.add(node.get("node", -1))
            found.append(node)
    return found


def regions(nodes):
    return [name for name in names(nodes) if re.fullmatch(r"Torch-Compiled Region: \d+/\d+", name)]


def has_memory(nodes):
    return any(node["kind"] == "memory" and node["action"] == "allocate" for node in nodes)


@counted
def test_dynamo_timed_profiling_isolated(run):
    by_torch, nodes = run("test_dynamo_timed_profiling_isolated")
    assert any("inner_fn (dynamo_timed)" in name for name in by_torch)
    within = inside(nodes, "torch.compile: inner_fn")
    assert "aten::sin" in names(within) and has_memory(within)
    assert "aten::mul.Tensor" in names(nodes) and "aten::mul.Tensor" not in names(within)


@counted
def test_dynamo_timed_profiling_backend_compile(run):
    by_torch, nodes = run("test_dynamo_timed_profiling_backend_compile")
    assert any("call_user_compiler (dynamo_timed)" in name for name in by_torch)
    assert names(nodes).count("torch.compile: backend_compile") == 1
    assert any(name.startswith("torch.compile: compiled 0/0 ") for name in names(nodes))
    assert regions(nodes) == ["Torch-Compiled Region: 0/0"]


@counted
def test_profile_dynamic_shapes_runtime(run):
    by_torch, nodes = run("test_profile_dynamic_shapes_runtime")
    assert "aten::mm" in by_torch
    assert len(regions(nodes)) == 3, "one compilation for all sizes, or another one after the first"
    last = inside(nodes, regions(nodes)[-1])
    assert "aten::mm" in names(last) and has_memory(last)


def look_at_compilation(run, test, operator):
    by_torch, nodes = run(test)
    assert operator in by_torch
    (region,) = regions(nodes)
    within = inside(nodes, region)
    assert operator in names(within) and has_memory(within)
    assert any(name.startswith("torch.compile: compiled ") for name in names(nodes))


@counted
def test_profile_dynamic_shapes_compilation(run):
    look_at_compilation(run, "test_profile_dynamic_shapes_compilation", "aten::mm")


@counted
def test_profile_dynamic_shapes_list_compilation(run):
    look_at_compilation(run, "test_profile_dynamic_shapes_list_compilation", "aten::cat")


@counted
def test_execution_trace_dynamic_shapes(run):
    """The trace is torch's own; Memoir records the same run in the same process."""
    by_trace, nodes = run("test_execution_trace_dynamic_shapes")
    assert any("mm" in name for name in by_trace)
    assert {node["process"] for node in nodes} == {0}
    assert len(regions(nodes)) == 1 and "aten::mm" in names(nodes)


@counted
def test_profiler_cache_lookup(run):
    by_torch, nodes = run("test_profiler_cache_lookup")
    assert len([name for name in by_torch if LOOKUP in name]) == 2, "one in each of two profiles"
    assert names(inside(nodes, "the run")).count(LOOKUP) == 2, "one in each of two runs"


@counted
def test_profiler_cache_lookup_profiler_step(run):
    by_torch, nodes = run("test_profiler_cache_lookup_profiler_step")
    assert LOOKUP in by_torch
    # torch 2.15 looks nothing up in the first call, which compiles.
    assert names(nodes).count(LOOKUP) >= 9, "one for each call: torch.profiler's schedule is none of Memoir's"


@counted
def test_profiler_dynamo_compiled_region(run):
    by_torch, nodes = run("test_profiler_dynamo_compiled_region")
    assert [name for name in by_torch if name.startswith("Torch-Compiled Region")] == regions(inside(nodes, "the run"))
    assert len(regions(nodes)) == 3


def test_profiler_enabled_compiled_region(run):
    """Whether torch.profiler is on or off, the region is the same node."""
    by_torch, nodes = run("test_profiler_enabled_compiled_region")
    off, on = regions(inside(nodes, "the run"))
    assert off == on and on in by_torch
    assert len(regions(nodes)) == 6
