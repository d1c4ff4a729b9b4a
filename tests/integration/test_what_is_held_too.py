"""Tensors held where torch.profiler does not look, and the records that repeat all held tensors when a part of the capture begins."""

import json

from recording import events, record, show

# A gradient that is sparse, state in lists, a parameter that wraps another tensor, and one of a subclass with additional bytes.
UNLISTED = '''
import json, torch
from torch import nn
from torch.distributed.tensor import DTensor, Replicate
import tempfile
folder = tempfile.mkdtemp()
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
class Own(nn.Parameter):
    pass
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 8, sparse=True)
        self.wrapped = nn.Parameter(DTensor.from_local(torch.ones(8, 8), mesh, [Replicate()]))
        self.own = Own(torch.ones(8))
    def forward(self, x):
        return self.table(x) * self.own + self.wrapped.to_local().sum(0)
net = Net()
with torch.no_grad():
    net.wrapped.to_local()
net(torch.arange(4)).sum().backward()
net(torch.arange(4))
optimizer = torch.optim.LBFGS([leaf := torch.ones(4, requires_grad=True)], max_iter=3)
optimizer.step(lambda: (optimizer.zero_grad(), loss := (leaf ** 4).sum(), loss.backward())[1])
where = lambda t: t.untyped_storage().data_ptr()
state = optimizer.state[leaf]
print(json.dumps({"sparse": where(net.table.weight.grad._values()), "wrapped": where(net.wrapped._local_tensor), "wrapped gradient": where(net.wrapped.grad._local_tensor),
    "own": where(net.own), "listed": where(state["d"]), "lists": [where(t) for t in state["old_dirs"]]}))
torch.distributed.destroy_process_group()
'''


def test_what_torch_profiler_does_not_look_at(tree, tmp_path):
    capture, done = record(tree, tmp_path, UNLISTED)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout.splitlines()[-1])
    held = {}
    for event in events(tree, capture):
        if event["event"] in ("module_holds", "optimizer_holds", "gradient_of"):
            held.update((int(tensor["storage"], 16), tensor.get("unlisted", False)) for tensor in event["tensors"] if tensor)
    assert expected["lists"] and all(held[address] for address in expected["lists"])
    assert [held[expected[name]] for name in ("sparse", "wrapped", "wrapped gradient", "own")] == [True] * 4
    assert held[expected["listed"]] is False


# Enough for several parts of a small capture.
MANY_STEPS = '''
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)
        self.uncalled = nn.Linear(8, 8)
    def forward(self, x):
        return nn.functional.linear(self.norm(self.fc(x)), self.uncalled.weight, self.uncalled.bias)
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for step in range(400):
    net(torch.randn(4, 8)).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
'''


def test_each_part_says_it_again(tree, tmp_path):
    capture, done = record(tree, tmp_path, MANY_STEPS, options=("--max-size", "768KiB"))
    assert (done.returncode, done.stderr) == (0, "")
    found = events(tree, capture)
    assert {event["module"] for event in found if event["event"] == "module_holds"} == {"fc", "norm", "uncalled"}
    assert any(event["event"] == "optimizer_holds" and event["tensors"] for event in found)
    shown = show(tree, capture, "--by", "parameter")
    assert any(process["folded_parts"] for process in shown["processes"]), "the first parts must be gone, for this to say anything"
    names = {"fc.weight", "fc.bias", "norm.weight", "norm.bias", "uncalled.weight", "uncalled.bias"}
    assert {row["name"] for row in shown["parameters"] if row["kind"] == "named" and row["optimizer_state"]["net_bytes"] > 0} == names
