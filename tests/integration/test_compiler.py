"""torch.compile's own work is recorded: its ranges, what it compiled and why; and no modules of its making."""

import collections
import re

import pytest
from recording import events, record, run_explicit, run_memoir, show

# A backend like inductor: it allocates, measures, keeps something, and passes the graph to aot_eager. Sizes tell the blocks apart.
COMPILED = '''
import sys, torch
from torch._dynamo.utils import dynamo_timed
from torch._dynamo.backends.debugging import aot_eager

kept = []

def backend(graph, inputs):
    scratch = torch.empty(8 << 20, dtype=torch.uint8).fill_(1)
    with dynamo_timed("CachingAutotuner.benchmark_all_configs"):
        measured = torch.empty(50 << 20, dtype=torch.uint8).fill_(1)
        del measured
    kept.append(torch.zeros(1 << 20, dtype=torch.uint8))
    return aot_eager(graph, inputs)

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(256, 256)
    def forward(self, x):
        return torch.nn.functional.dropout(self.fc(x).relu(), 0.1)

torch.manual_seed(0)
model = Block()
fast = torch.compile(model, backend=backend)
for size in (4, 6, 6):
    fast(torch.ones(size, 256)).sum().backward()
    print([p.grad.sum().item() for p in model.parameters()])
import torch._dynamo.utils as utils
print(type(utils.__spec__.loader).__name__, type(utils.__loader__).__name__, [f for f in sys.meta_path if "memoir" in type(f).__module__])
'''


@pytest.fixture(scope="module")
def compiled(tree, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("compiled"), COMPILED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "SourceFileLoader SourceFileLoader []"
    return capture


def test_what_was_compiled_and_why(tree, compiled):
    prefix = "torch.compile: "
    begun = [e["name"].removeprefix(prefix) for e in events(tree, compiled) if e["event"] == "range_begin" and e["name"].startswith(prefix)]
    first, again = [name for name in begun if name.startswith(("compiled", "recompiled")) and "backward" not in name]
    assert re.fullmatch(r"compiled 0/0 Block.forward \(program.py:\d\d\)", first)
    assert re.fullmatch(r"recompiled 0/1 Block.forward \(program.py:\d\d\): .*size mismatch.*", again)
    assert {"dynamo", "entire_frame_compile"} <= set(begun)


def test_its_memory_is_none_of_the_models(tree, compiled):
    categories = {(row["category"], row["detail"]): row for row in show(tree, compiled, "--by", "category")["categories"]}
    tuning = categories[("TEMPORARY", "autotuning")]
    assert tuning["allocated_bytes"] == 2 * (50 << 20), categories  # two compilations
    assert categories[("TEMPORARY", "compile")]["net_bytes"] >= 2 << 20, categories
    by_module = show(tree, compiled, "--by", "module")
    assert by_module["phases"]["compile"]["allocated_bytes"] > 100 << 20
    assert all(row["allocated_bytes"] < 50 << 20 for row in by_module["modules"] if row["name"] != "(no module)")
    device = by_module["devices"][0]
    assert device["compile_bytes_at_peak"] > 50 << 20
    assert device["peak_without_compile_bytes"] < device["peak_allocated_bytes"] - (50 << 20)
    assert "peak while compiling: " in run_memoir(tree, "show", compiled).stdout


GRAPHS = '''
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 16)
    def forward(self, x):
        return self.fc(x).relu()

own = torch.fx.symbolic_trace(Net())
own(torch.ones(2, 16)).sum().backward()
fast = torch.compile(Net(), backend="aot_eager")
for size in (2, 3):
    fast(torch.ones(size, 16)).sum().backward()
'''


def test_graphs_that_torch_makes_are_no_modules(tree, tmp_path):
    """A program's own graph module is one."""
    capture, done = record(tree, tmp_path, GRAPHS)
    assert done.returncode == 0, done.stderr
    roots = {e["root"] for e in events(tree, capture) if e["event"] == "module_enter"}
    assert roots == {"Net", "Net#2"}, roots


OFF = '''
import sys
import memoir, torch
memoir.start(sys.argv[1], modules=False)
finders = [f for f in sys.meta_path if "memoir" in type(f).__module__]
memoir.stop()
left = [f for f in sys.meta_path if "memoir" in type(f).__module__]
import torch._dynamo.utils as utils
plain = vars(utils.ChromiumEventLogger)["log_event_start"]
memoir.start(sys.argv[1], modules=False)
ours = vars(utils.ChromiumEventLogger)["log_event_start"]
assert ours.__qualname__ == plain.__qualname__ and ours.__wrapped__ is plain
with utils.dynamo_timed("outer"):
    with utils.dynamo_timed("inner"):
        torch.ones(1000)
    torch.zeros(1000)
torch.ones(7)
memoir.stop()
print(len(finders), len(left), ours is plain, vars(utils.ChromiumEventLogger)["log_event_start"] is plain)
'''


def test_on_and_off(tree, tmp_path):
    done = run_explicit(tree, tmp_path, OFF, tmp_path / "capture")
    assert (done.returncode, done.stdout.split()) == (0, ["1", "0", "False", "True"]), done.stderr
    found = collections.Counter()
    for row in show(tree, tmp_path / "capture", "--by", "range")["ranges"]:
        # Until 2.10 torch's profiler has one more range inside.
        found[re.sub(r"^(.*) \(dynamo_timed\)$", r"torch.compile: \1", row["name"])] += row["allocated_bytes"]
    assert found == {"torch.compile: inner": 4000, "torch.compile: outer": 4000, "(no range)": 28}
