"""Values on the simulated GPU: values of small tensors equal the CPU's, reused memory reads zero, and unknown values follow a policy, with a message."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

from simulation import answers, environment, simulate
from value_programs import CASES

PROGRAMS = pathlib.Path(__file__).parent / "value_programs.py"


@pytest.fixture(scope="module")
def both(tree):
    """The programs' results on the CPU, and on the simulated GPU."""
    command = [sys.executable, PROGRAMS]
    started = [subprocess.Popen([*command, device], env=environment(tree), stdout=subprocess.PIPE, text=True) for device in ("cpu", "cuda")]
    printed = [process.communicate(timeout=300)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    return [json.loads(text.splitlines()[-1]) for text in printed]


@pytest.mark.parametrize("name", CASES)
def test_as_on_the_cpu(both, name):
    on_cpu, on_gpu = (found[name] for found in both)
    assert on_cpu and on_gpu == on_cpu


REUSES = '''
import json, torch
found = []
for count, dtype in ((1000, torch.int64), (1 << 18, torch.float32), (1 << 22, torch.float32)):
    first = torch.ones(count, dtype=dtype).cuda()
    address, held = first.data_ptr(), first.cpu().sum().item()
    del first
    again = torch.empty(count, dtype=dtype, device="cuda")
    found.append([again.data_ptr() == address, held, again.cpu().sum().item()])
    del again
torch.cuda.synchronize()
print(json.dumps(found))
'''


@pytest.mark.parametrize("configuration", ["", "expandable_segments:True"])
def test_a_reused_block_reads_zero(tree, configuration):
    found = answers(tree, REUSES, PYTORCH_CUDA_ALLOC_CONF=configuration)
    assert found == [[True, 1000, 0], [True, 1 << 18, 0], [True, 0, 0]], "the last one is too large to be kept"


ONE_THREAD = '''
import json, os, torch
def threads(): return len(os.listdir("/proc/self/task"))
torch.set_num_threads(4)
x = torch.randn(64, 64, device="cuda", requires_grad=True)
weight = torch.randn(64, 64, device="cuda", requires_grad=True)
torch.cuda.synchronize()
def compute():
    y = torch.nn.functional.layer_norm((x @ weight).softmax(-1), (64,))
    (y * torch.arange(64, device="cuda")).gather(0, torch.zeros(64, 64, dtype=torch.long, device="cuda")).sum().backward()
    torch.nn.functional.embedding(torch.arange(64, device="cuda"), y).bfloat16().mm(weight.bfloat16().t()).sum().item()
before = threads()
compute()
computed = threads() - before - 1                 # autograd's own thread of the device
torch.nn.functional.layer_norm(torch.randn(512, 512), (512,))
print(json.dumps([computed, threads() - before - 1, torch.get_num_threads(), x.grad.abs().sum().item() > 0]))
'''


def test_small_values_are_computed_by_one_thread_and_the_programs_own_work_by_all_of_its(tree):
    computed, own, number, has_values = answers(tree, ONE_THREAD, OMP_NUM_THREADS="4")
    assert [computed, number, has_values] == [0, 4, True]
    assert own == 3


UNKNOWN = '''
import json, torch
large = torch.randn(300, 300, device="cuda")
small = large.sum(1)
known = torch.arange(4, device="cuda")
shapes = {
    "nonzero": (large > 0).nonzero(), "index": large[large > 0], "masked_select": torch.masked_select(large, large > 0), "unique": small.unique(),
    "unique_consecutive": torch.unique_consecutive(small), "unique_dim": torch.unique(large, dim=0), "bincount": torch.bincount(small.long()),
    "repeat_interleave": torch.repeat_interleave(small.long()), "multinomial": torch.multinomial(large.softmax(1), 2),
    "known": (known > 1).nonzero(),
}
overwritten = known.copy_(small[:4]).tolist()
print(json.dumps([{name: list(tensor.shape) for name, tensor in shapes.items()}, small[0].item(), overwritten]))
'''
COUNTED = {"aten::nonzero": 3, "aten::_unique2": 1, "aten::unique_consecutive": 1, "aten::unique_dim": 1, "aten::bincount": 1, "aten::repeat_interleave": 1}


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("policy, expected", [("", [0, 0, 0, 1, 1, 1, 1, 0]), ("least", [0, 0, 0, 1, 1, 1, 1, 0]),
                                              ("most", [90000, 90000, 90000, 300, 300, 300, 300, 300])])
def test_shapes_of_unknown_values(tree, tmp_path, policy, expected):
    counts = tmp_path / "counts"
    done = simulate(tree, UNKNOWN, MEMOIR_SIM_UNKNOWN=policy, MEMOIR_SIM_COUNTS=counts)
    assert done.returncode == 0, done.stderr[-3000:]
    shapes, item, overwritten = json.loads(done.stdout.splitlines()[-1])
    assert [shape[0] for shape in shapes.values()] == [*expected, 300, 2]
    assert item == 0 and overwritten == [0, 0, 0, 0]
    rows = [line.split("\t") for line in counts.read_text().splitlines()]
    assert {name: int(count) for _, kind, count, name in rows if kind == "unknown"} == COUNTED
    line, = [line for line in done.stderr.splitlines() if line.startswith("memoir:")]
    taken = "largest" if policy == "most" else "smallest"
    assert "8 shapes depended on values" in line and "aten::nonzero 3" in line and f"taken to be the {taken} possible" in line


def test_nothing_is_said_where_all_was_known(both, tree, tmp_path):
    done = simulate(tree, "import torch; print(torch.arange(9, device='cuda').nonzero().shape)", MEMOIR_SIM_COUNTS=tmp_path / "counts")
    assert done.returncode == 0 and not done.stderr and "\tunknown\t" not in (tmp_path / "counts").read_text()


FILLED_FIRST = '''
import json, torch
from torch import nn
ids, ones = torch.arange(90000, device="cuda") % 8, torch.ones(4, 4, device="cuda")
wide = torch.randn(4, 90000, device="cuda")
table, norm = nn.Embedding(8, 4, device="cuda"), nn.BatchNorm1d(90000).cuda()
table(ids).sum().backward()
norm(wide)
found = [torch.addmm(ones, wide, wide.t()), torch.baddbmm(ones[None], wide[None], wide.t()[None]), torch.bincount(ids, minlength=16), torch.histc(wide, 4),
         table.weight.grad, norm.running_mean[:16], torch.zeros(8, device="cuda").scatter_add(0, ids, wide.flatten()[:90000])]
print(json.dumps([[tensor.count_nonzero().item(), tensor.nonzero().shape[0]] for tensor in found]))
'''


def test_what_was_filled_first_is_not_known_for_that(tree):
    """Kernels that add to a result have it filled with zeros, or with what is to be added: that was computed, and is not the result."""
    assert answers(tree, FILLED_FIRST, MEMOIR_SIM_UNKNOWN="most") == [[0, size] for size in (16, 16, 90000, 4, 32, 16, 8)]


COMPILED = '''
import json, torch
from torch import nn
large, mask = torch.randn(300, 300, device="cuda"), torch.ones(3, dtype=torch.bool, device="cuda")
graph, x = torch.cuda.CUDAGraph(), torch.ones(4, device="cuda")
y = x + 1
with torch.cuda.graph(graph):
    z = x + 1
graph.replay()
seed = torch.cuda.initial_seed()
layer = nn.Linear(300, 4).cuda()
print(json.dumps([y.tolist(), z.tolist(), layer(large).sum().item(), layer.bias.detach().abs().sum().item() > 0]))
'''


def test_what_is_not_computed_reads_zero(tree):
    """A captured kernel, and one of large tensors; results of a small operator between them stay."""
    assert answers(tree, COMPILED) == [[2, 2, 2, 2], [0, 0, 0, 0], 0, True]


TRAINS = '''
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 4)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(torch.randn(8, 16).cuda()), torch.randint(0, 4, (8,)).cuda())
    loss.backward()
    optimizer.step()
print("loss", loss.item())
'''


@pytest.mark.in_turn(always=1)
@pytest.mark.parametrize("operators", ["ranges", "dispatch"])
def test_a_recording_holds_the_operators_of_the_gpu(tree, tmp_path, operators):
    """Neither an operator nor an allocation of the host's computation is in it."""
    recorded, losses = [], []
    for values in ("on", "off"):
        capture = tmp_path / values
        done = subprocess.run([tree / "bin/memoir", "run", "-o", capture, "--ops", operators, "--simulate", "h100", "--sim-values", values, "--",
                               sys.executable, "-c", TRAINS], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        losses.append(float(re.search(r"loss (\S+)", done.stdout)[1]))
        shown = subprocess.run([tree / "bin/memoir", "show", capture, "--by", "operator", "--json", "--top", "0"], capture_output=True, text=True, check=True)
        recorded.append(json.loads(shown.stdout))
    assert 0.5 < losses[0] < 5 and losses[1] == 0
    with_values, without = (counts_of(shown) for shown in recorded)
    assert len(with_values) > 10 and with_values == without


def counts_of(shown):
    """Bytes and count of each operator's allocations, from `show --by operator`."""
    rows = next(value for key, value in shown.items() if isinstance(value, list) and value and isinstance(value[0], dict) and "name" in value[0])
    return {row["name"]: {key: value for key, value in row.items() if isinstance(value, int)} for row in rows}
