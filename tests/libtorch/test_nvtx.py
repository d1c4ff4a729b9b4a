"""User ranges of NVTX in a program without Python: the interposer leads NVTX to itself, unless somebody has led it elsewhere."""

import json

import pytest
from recording import run_memoir


@pytest.fixture
def program(built):
    try:
        return built("libtorch_nvtx")
    except AssertionError:
        pytest.skip("this build has no headers of NVTX")


def nodes_of(tree, capture):
    done = run_memoir(tree, "export", "tree", capture)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_ranges_are_user_ranges(tree, program, clean, tmp_path):
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--", program, env=without_tool(clean))
    assert (done.returncode, done.stdout, done.stderr) == (0, "8192\n", "")
    nodes = nodes_of(tree, tmp_path / "capture")
    ranges = {node["name"]: node for node in nodes if node.get("source") == "nvtx"}
    assert set(ranges) == {"outer of the program", "inner of the program"}
    assert ranges["inner of the program"]["parent"] == ranges["outer of the program"]["node"]
    inside = [node["name"] for node in nodes if node["kind"] == "range" and node["parent"] == ranges["inner of the program"]["node"]]
    assert inside == ["aten::mul.Scalar"]


def test_they_are_left_to_a_tool_that_has_them(tree, program, clean, tmp_path):
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--", program, env=clean(NVTX_INJECTION64_PATH="/nowhere/libprofiler.so"))
    assert (done.returncode, done.stdout) == (0, "8192\n"), done.stderr
    nodes = nodes_of(tree, tmp_path / "capture")
    assert nodes and not [node for node in nodes if node.get("source") == "nvtx"]


def without_tool(clean):
    variables = clean()
    variables.pop("NVTX_INJECTION64_PATH", None)
    return variables
