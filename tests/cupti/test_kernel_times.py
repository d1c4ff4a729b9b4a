"""How long kernels ran, of programs on the simulated GPU: no kernel runs there, and none of this was run on a card. A library in CUPTI's place (standin_cupti.cc) says
of each launch, copy and fill that it took some nanoseconds, and writes them down."""

import collections
import json
import os
import re
import subprocess
import sys

import pytest

TRAINING = '''
import torch
torch.manual_seed(0)
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(30):
    x = torch.ones(64, 64).cuda()
    loss = torch.tanh(model(x)).sum()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
print("result", loss.item(), sum(p.sum().item() for p in model.parameters()))
'''
GRAPH = '''
import torch
x = torch.ones(1 << 20, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x + 1
for _ in range(20):
    graph.replay()
torch.cuda.synchronize()
'''
# torch.profiler takes CUPTI in the middle of the recording.
PROFILED = '''
import torch
from torch.profiler import ProfilerActivity, profile
x = torch.ones(64, device="cuda")
torch.tanh(x)
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
    torch.exp(x)
    torch.cuda.synchronize()
print("kernels of torch.profiler:", sum(1 for event in found.events() if event.device_type == torch.autograd.DeviceType.CUDA))
torch.sin(x)
torch.cuda.synchronize()
'''


def memoir(tree, *arguments):
    done = subprocess.run([tree / "bin" / "memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(tree, capture, source, tells="", *, library=True, **variables):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMOIR_")}
    preload = ([os.environ["STANDIN_LIBRARY"]] if library else []) + [str(tree / "lib/memoir/libmemoir_interpose.so"), str(tree / "lib/memoir/libmemoir_simcuda.so")]
    environment |= {"LD_PRELOAD": ":".join(preload), "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_SIM_GPU": "h100", "MEMOIR_ENABLE": "1"}
    environment |= {"MEMOIR_OUTPUT": str(capture), "MEMOIR_KERNELS": "times", "STANDIN_CUPTI": tells, "STANDIN_BEHIND": preload[-1], "STANDIN_LOG": f"{capture}.log", **variables}
    done = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def lines_of(done):
    return [line for line in done.stderr.splitlines() if line.startswith("memoir: ")]


def log_of(capture):
    """(what, correlation, ns, symbol) of each record."""
    with open(f"{capture}.log") as log:
        rows = [line.rstrip("\n").split(" ", 3) for line in log]
    return [(what, int(correlation), int(ns), symbol) for what, correlation, ns, symbol in rows]


def kernels_of(tree, capture):
    return json.loads(memoir(tree, "show", "--by", "kernel", "--json", capture))


def events_of(tree, capture):
    return [json.loads(line) for line in memoir(tree, "export", "events", capture).splitlines()]


@pytest.fixture(scope="module")
def training(tree, tmp_path_factory):
    capture = tmp_path_factory.mktemp("training") / "capture"
    return capture, record(tree, capture, TRAINING)


def test_each_time_reaches_its_kernel_and_its_operator(tree, training):
    capture, _ = training
    launches = {event["correlation"]: event for event in events_of(tree, capture) if event["event"] == "kernel_launch"}
    expected = collections.Counter()
    for what, correlation, ns, symbol in log_of(capture):
        if what == "kernel" and correlation in launches:
            assert launches[correlation]["kernel"] == symbol
            expected[symbol, launches[correlation]["leaf"]] += ns
    found = {(kernel["symbol"], entry["name"]): entry["device_ns"] for kernel in kernels_of(tree, capture)["kernels"] for entry in kernel["operators"]}
    assert found == dict(expected) and len(found) > 5


def test_sums_are_equal_and_nothing_is_left_over(tree, training):
    capture, _ = training
    found = kernels_of(tree, capture)
    log = log_of(capture)
    assert found["runs"] == found["launches"] == sum(1 for row in log if row[0] == "kernel")
    assert found["device_ns"] == sum(kernel["device_ns"] for kernel in found["kernels"]) == sum(row[2] for row in log if row[0] == "kernel")
    assert sum(call["device_ns"] for call in found["calls"]) == sum(row[2] for row in log if row[0] != "kernel") > 0
    assert found["other_runs"] == 0
    times = [kernel["device_ns"] for kernel in found["kernels"]]
    assert times == sorted(times, reverse=True)


def test_the_page_has_times(tree, training):
    text = memoir(tree, "show", "--by", "kernel", training[0])
    title = next(line for line in text.splitlines() if line.strip().startswith("kernel "))
    assert title.split()[:5] == ["kernel", "launches", "time", "share", "mean"]
    assert "CUPTI timed" in text and "not recorded" not in text


def test_nothing_is_said_and_the_program_computes_the_same(tree, training, tmp_path):
    _, done = training
    assert not [line for line in lines_of(done) if "CUPTI" in line or "kernels run" in line]
    without = record(tree, tmp_path / "capture", TRAINING, MEMOIR_KERNELS="off")
    assert done.stdout == without.stdout and "result" in done.stdout
    assert not os.path.exists(tmp_path / "capture.log"), "nobody subscribed"


def test_launches_alone_are_as_before(tree, tmp_path):
    record(tree, tmp_path / "capture", TRAINING, MEMOIR_KERNELS="on")
    found = kernels_of(tree, tmp_path / "capture")
    assert "device_ns" not in found and not os.path.exists(tmp_path / "capture.log")
    assert not [event for event in events_of(tree, tmp_path / "capture") if "correlation" in event]


def test_what_a_graph_runs_has_its_time(tree, tmp_path):
    record(tree, tmp_path / "capture", GRAPH)
    by_symbol = {kernel["symbol"]: kernel for kernel in kernels_of(tree, tmp_path / "capture")["kernels"]}
    for name in ("first_of_graph", "second_of_graph"):
        kernel = by_symbol[name]
        assert (kernel["launches"], kernel["runs"]) == (0, 20)
        assert kernel["device_ns"] == sum(row[2] for row in log_of(tmp_path / "capture") if row[3] == name)


def test_outside_of_a_window_neither_launches_nor_times_are_recorded(tree, tmp_path):
    record(tree, tmp_path / "capture", TRAINING, MEMOIR_STEPS="10:12")
    found = kernels_of(tree, tmp_path / "capture")
    assert 0 < found["runs"] == found["launches"] < 100 and found["other_runs"] == 0


def test_buffers_that_come_late_are_taken_at_the_end(tree, tmp_path):
    record(tree, tmp_path / "capture", TRAINING, "late")
    found = kernels_of(tree, tmp_path / "capture")
    assert found["device_ns"] == sum(row[2] for row in log_of(tmp_path / "capture") if row[0] == "kernel") > 0


def test_what_ran_before_a_pause_is_recorded(tree, tmp_path):
    """Though CUPTI gives its buffers later by itself, and the recording is not on again."""
    record(tree, tmp_path / "capture", 'import memoir, torch\nx = torch.ones(1, device="cuda")\nfor _ in range(200):\n    x.add_(1)\ntorch.cuda.synchronize()\n'
           "memoir.pause()\nx.add_(1)\n", "late")
    found = kernels_of(tree, tmp_path / "capture")
    assert found["runs"] == found["launches"] == 201


def test_more_than_the_buffers_hold_is_given_in_turn(tree, tmp_path):
    """They have 1.5 MiB each, some seven thousand records."""
    record(tree, tmp_path / "capture", 'import torch\nx = torch.ones(1, device="cuda")\nfor _ in range(20000):\n    x.add_(1)\ntorch.cuda.synchronize()\n', "late")
    found = kernels_of(tree, tmp_path / "capture")
    assert found["runs"] == found["launches"] == 20001


def test_records_of_other_kinds_are_passed_over(tree, tmp_path):
    record(tree, tmp_path / "capture", TRAINING, "unknown")
    found = kernels_of(tree, tmp_path / "capture")
    assert found["runs"] == found["launches"] > 100


def test_dropped_records_are_counted(tree, tmp_path):
    record(tree, tmp_path / "capture", TRAINING, "drops")
    found = kernels_of(tree, tmp_path / "capture")
    assert 0 < found["runs"] < found["launches"]
    assert re.search(r"how long kernels ran is not recorded from .*: \d+ of CUPTI's records were lost", memoir(tree, "show", "--by", "kernel", tmp_path / "capture"))


@pytest.mark.parametrize(
    ("tells", "why"),
    [
        ("busy", "another profiler uses CUPTI already"),
        ("older", "CUPTI is older than CUDA 12's: its version is 18, and 19 or later is needed"),
        ("refuses", "CUPTI refuses: cuptiActivityEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
        ("simulated", "CUPTI refuses: cuptiGetVersion: CUPTI_ERROR_NOT_SUPPORTED: this GPU is simulated"),
    ],
)
def test_where_cupti_does_not_do_it_one_line_says_so(tree, tmp_path, tells, why):
    done = record(tree, tmp_path / "capture", TRAINING, tells, library=tells != "simulated")
    assert lines_of(done)[:1] == [f"memoir: how long kernels run is not recorded: {why}; all else of --kernels is"]
    assert sum("how long" in line for line in lines_of(done)) == 1
    found = kernels_of(tree, tmp_path / "capture")
    assert found["launches"] > 100 and "device_ns" not in found
    assert [entry["what"] for entry in found["processes"][0]["unrecorded"]] == ["kernel_times"]


def test_torch_profiler_gets_cupti_and_memoir_leaves_it(tree, tmp_path):
    done = record(tree, tmp_path / "capture", PROFILED)
    alone = record(tree, tmp_path / "alone", PROFILED, MEMOIR_KERNELS="off")
    seen = re.compile(r"kernels of torch.profiler: (\d+)")
    assert int(seen.search(done.stdout)[1]) == int(seen.search(alone.stdout)[1]) > 0
    assert done.stderr.count("another profiler (torch.profiler, for one) began to use CUPTI, and Memoir left it") == 1
    found = kernels_of(tree, tmp_path / "capture")
    timed = {operator["name"] for kernel in found["kernels"] for operator in kernel["operators"] if operator["device_ns"]}
    assert "aten::tanh" in timed and not timed & {"aten::exp", "aten::sin"}
    assert {"aten::exp", "aten::sin"} <= {operator["name"] for kernel in found["kernels"] for operator in kernel["operators"]}
    assert [entry["what"] for entry in found["processes"][0]["unrecorded"]] == ["kernel_times"]
