"""Real training programs of the unmodified torch on the simulated GPU: they run, and torch's own figures add up."""

import json
import pathlib
import subprocess
import sys
import sysconfig

import pytest

from simulation import ON_GPU, answers, environment
from workloads import CASES

WORKLOADS = pathlib.Path(__file__).parent / "workloads.py"
MIB = 1 << 20
CONFIGURATIONS = {"": "plain", "expandable_segments:True": "expandable"}


def can_run(name):
    """torch loads cuSOLVER when it is first asked for linear algebra; build/venv-2.15 leaves it out."""
    libraries = pathlib.Path(sysconfig.get_path("purelib"), "nvidia")
    return name != "linear_algebra_and_fourier" or any(libraries.glob("**/libcusolver.so*"))


@pytest.fixture(scope="module", params=CONFIGURATIONS, ids=CONFIGURATIONS.get)
def ran(request, tree):
    variables = {"MEMOIR_SIM_GPU": "a100-40", "MEMOIR_SIM_DEVICES": 2, "PYTORCH_CUDA_ALLOC_CONF": request.param}
    done = subprocess.run([sys.executable, WORKLOADS, *filter(can_run, CASES)], env=environment(tree, **variables), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "configuration": request.param}


def test_optimizer_state_is_four_times_the_parameters(ran):
    found = ran["mlp"]
    workspaces = 2 * (32 * MIB if ON_GPU else 8519680) + MIB       # cuBLAS (as on compute capability 8.0), for two threads; cuBLASLt
    assert 4 * found["parameters"] <= found["allocated"] <= 4 * found["parameters"] + workspaces + MIB


def test_autocast_takes_less(ran):
    found = ran["transformer_in_both_precisions"]
    assert 10 * MIB < found["bfloat16"] < found["float32"]


def test_scaler_and_fused_optimizer(ran):
    assert ran["fused_optimizer_scaler_and_clipping"] == {"gradients": 0}


def test_cudnn(ran):
    assert ran["convolutions_and_normalisation"] == {"shape": [2, 10]}
    assert ran["recurrent"] == {"output": [5, 3, 128], "hidden": [4, 3, 64], "gradient": [256, 128]}


def test_streams(ran):
    assert ran["streams"] == {"time": True, "query": True, "kept": 8 * MIB, "other stream has its own": True, "its stream gets it back": True}


def test_graphs(ran):
    assert ran["graphs"] == {"private pools": 1, "capturing": False}


def test_out_of_memory_at_the_budget(ran):
    found = ran["out_of_memory_and_recovery"]
    step = 20 * MIB if ran["configuration"] else 2 * MIB      # in which segments of large blocks grow
    assert found["left"] < step and found["ooms"] == 1 and found["free again"] and found["allocated"] == 0
    assert found["message"].startswith(f"CUDA out of memory. Tried to allocate 400.00 MiB. GPU 0 has a total capacity of {found['total'] / (1 << 30):.2f} GiB")
    assert ON_GPU or found["total"] == 40391363 << 10


def test_memory_pool(ran):
    assert ran["memory_pool"]["holds it"] and ran["memory_pool"]["segments"] == 1


def test_copies(ran):
    assert ran["pinned_and_copies"] == {"pinned": True, "back": True, "large": 4.0 * MIB if ON_GPU else 0.0, "pageable": False}


def test_devices(ran):
    if ON_GPU and ran["devices"]["count"] != 2:
        pytest.skip("two GPUs are needed")
    assert ran["devices"] == {"count": 2, "peer": True, "moved": 0, "second": True}


def test_libraries(ran):
    assert ran["linear_algebra_and_fourier"] == {"spectrum": [2, 16, 9]}


SYNCHRONISES = '''
import json, torch
x = torch.zeros(1, device="cuda")
try:
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.item()
except RuntimeError as error:
    print(json.dumps("captur" in str(error)))
'''


def test_a_graph_that_synchronises_is_refused(tree):
    """In a separate process, because torch's allocator then treats the graph capture as one that never ended."""
    assert answers(tree, SYNCHRONISES) is True
