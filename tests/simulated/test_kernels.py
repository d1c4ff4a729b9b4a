"""Launches of kernels, copies, waits, CUDA graphs and NVTX ranges of programs on the simulated GPU: no kernel runs there, but each is launched by the functions that a program
calls on a card, and named by its own library."""

import json
import os
import subprocess
import sys

import pytest

TRAINING = '''
import torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
other = torch.cuda.Stream()
for _ in range(2):
    x = torch.ones(64, 64).cuda()
    loss = torch.tanh(model(x)).sum()
    loss.backward()
    optimizer.step()
    loss.item()
with torch.cuda.stream(other):
    torch.zeros(1 << 20, device="cuda")
torch.cuda.nvtx.range_push("outer nvtx")
torch.ones(4, device="cuda")
with torch.cuda.nvtx.range("inner nvtx"):
    torch.ones(4, device="cuda")
torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
'''
GRAPH = '''
import torch
x = torch.ones(1 << 20, device="cuda")
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = torch.empty(3 << 20, device="cuda").fill_(1)
    z = y + y
for _ in range(20):
    graph.replay()
other = torch.cuda.CUDAGraph()
with torch.cuda.graph(other):
    w = x * 2
other.replay()
del other, w
'''
# By the runtime's own functions, by name: as an extension that opens the library late. The second kernel was never registered.
UNREGISTERED = '''
import ctypes, torch
torch.ones(1, device="cuda")
runtime = ctypes.CDLL(None)
class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]
runtime.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
runtime.cudaLaunchKernel(0x1234, Dim3(2, 1, 1), Dim3(32, 1, 1), None, 0, None)
'''


def memoir(tree, *arguments):
    done = subprocess.run([tree / "bin" / "memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(tree, capture, source, *options, **variables):
    environment = {**os.environ, **variables}
    command = [tree / "bin" / "memoir", "run", "-q", "-o", capture, "--simulate", "h100", *options, "--", sys.executable, "-c", source]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return capture


@pytest.fixture(scope="module")
def training(tree, tmp_path_factory):
    return record(tree, tmp_path_factory.mktemp("training") / "capture", TRAINING)


@pytest.fixture(scope="module")
def without(tree, tmp_path_factory):
    return record(tree, tmp_path_factory.mktemp("without") / "capture", TRAINING, "--kernels", "off")


@pytest.fixture(scope="module")
def graphs(tree, tmp_path_factory):
    return record(tree, tmp_path_factory.mktemp("graphs") / "capture", GRAPH)


def kernels_of(tree, capture):
    return json.loads(memoir(tree, "show", "--by", "kernel", "--json", capture))


def nodes_of(tree, capture):
    return [json.loads(line) for line in memoir(tree, "export", "tree", capture).splitlines()]


def test_kernels_have_their_names_operators_and_streams(tree, training):
    found = kernels_of(tree, training)
    assert found["launches_recorded"] and found["launches"] == sum(kernel["launches"] for kernel in found["kernels"])
    assert found["unnamed_launches"] == 0
    by_name = {}
    for kernel in found["kernels"]:
        by_name.setdefault(kernel["kernel"], []).append(kernel)
    elementwise = by_name["at::native::vectorized_elementwise_kernel<...>"]
    operators = {entry["name"] for kernel in elementwise for entry in kernel["operators"]}
    assert {"aten::fill_.Scalar", "aten::tanh"} <= operators
    assert all(kernel["symbol"].startswith("_ZN2at6native") for kernel in elementwise)
    streams = {stream for kernel in found["kernels"] for stream in kernel["streams"]}
    assert "cuda:0 0x0" in streams and len(streams) == 2


def test_copies_and_waits_have_bytes_and_kind(tree, training):
    calls = {(call["call"], call["kind"]): call for call in kernels_of(tree, training)["calls"]}
    to_device = calls["cudaMemcpyAsync", "host_to_device"]
    assert to_device["bytes"] >= 2 * 64 * 64 * 4, "x of each step"
    to_host = calls["cudaMemcpyAsync", "device_to_host"]
    assert to_host["bytes"] == 2 * 4 and to_host["operators"][0]["name"] == "aten::_local_scalar_dense", "loss.item()"
    assert calls["cudaStreamSynchronize", None]["calls"] >= 2
    assert calls["cudaDeviceSynchronize", None]["calls"] == 1
    assert calls["cudaMalloc", None]["bytes"] >= 4 << 20 and calls["cudaMalloc", None]["total_ns"] is None


def test_calls_stand_under_their_operator(tree, training):
    nodes = nodes_of(tree, training)
    names = {node["node"]: node["name"] for node in nodes if node["kind"] == "range"}
    launches = [node for node in nodes if node["kind"] == "device_call" and "kernel" in node]
    assert any(names.get(node["parent"]) == "aten::tanh" and "tanh" in node["kernel"] for node in launches)
    assert any(names.get(node["parent"]) == "aten::fill_.Scalar" and node.get("stream") for node in launches), "on the other stream"
    text = memoir(tree, "show", "--tree", "--top", "0", training)
    assert "[kernel]" in text and "[cudaM" in text


def test_launches_can_be_left_out_and_that_is_said(tree, without, training):
    found = kernels_of(tree, without)
    assert not found["launches_recorded"] and found["kernels"] == [] and found["launches"] == 0
    assert "--kernels off" in memoir(tree, "show", "--by", "kernel", without)
    with_kernels = {(call["call"], call["kind"]): (call["calls"], call["bytes"]) for call in kernels_of(tree, training)["calls"]}
    assert {(call["call"], call["kind"]): (call["calls"], call["bytes"]) for call in found["calls"]} == with_kernels, "these are recorded in any case"


def test_a_graph_has_its_pool_and_its_replays(tree, graphs):
    first, second = kernels_of(tree, graphs)["graphs"]
    assert first["replays"] == 20 and first["kernels"] == 2 and first["instantiated"] and first["alive"]
    assert first["pool"] is not None and first["pool"] != [0, 0]
    assert first["pool_reserved_bytes"] >= 2 * (3 << 20) * 4, "y and z stay reserved"
    assert second["replays"] == 1 and not second["alive"] and second["pool"] != first["pool"]
    text = memoir(tree, "show", "--by", "kernel", graphs)
    assert "graph 1 on cuda:0: private pool" in text and "replayed 20 times" in " ".join(text.split())


def test_a_kernel_that_was_never_registered_has_no_name(tree, tmp_path):
    found = kernels_of(tree, record(tree, tmp_path / "capture", UNREGISTERED))
    assert found["unnamed_launches"] == 1
    assert [kernel["launches"] for kernel in found["kernels"] if kernel["kernel"] is None] == [1]
    assert "1 launch without a name" in memoir(tree, "show", "--by", "kernel", tmp_path / "capture")


def test_nvtx_ranges_are_user_ranges(tree, training):
    nodes = nodes_of(tree, training)
    ranges = {node["name"]: node for node in nodes if node["kind"] == "range" and node["source"] == "nvtx"}
    assert ranges["inner nvtx"]["parent"] == ranges["outer nvtx"]["node"]
    inside = [node["name"] for node in nodes if node["kind"] == "range" and node["parent"] == ranges["inner nvtx"]["node"]]
    assert inside == ["aten::ones"]


def test_nvtx_is_left_to_a_profiler_that_has_it(tree, tmp_path):
    capture = record(tree, tmp_path / "capture", TRAINING, NVTX_INJECTION64_PATH="/nowhere/libprofiler.so")
    assert not [node for node in nodes_of(tree, capture) if node.get("name") == "inner nvtx"]


def test_a_recording_in_python_says_whether_it_wants_kernels(tree, tmp_path):
    source = f'''
import memoir, torch
torch.ones(4, device="cuda")
with memoir.session({str(tmp_path / "first")!r}, kernels=False):
    torch.ones(4, device="cuda")
with memoir.session({str(tmp_path / "second")!r}):
    torch.ones(4, device="cuda")
'''
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMOIR_")}
    environment |= {"LD_PRELOAD": str(tree / "lib/memoir/libmemoir_simcuda.so"), "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_SIM_GPU": "h100"}
    subprocess.run([sys.executable, "-c", source], env=environment, check=True, capture_output=True, timeout=300)
    assert kernels_of(tree, tmp_path / "first")["launches"] == 0
    assert kernels_of(tree, tmp_path / "second")["launches"] == 1
