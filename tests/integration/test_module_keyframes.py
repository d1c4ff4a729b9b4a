"""Owners of bytes in a recording whose older parts --max-size evicted: keyframes keep the owners of blocks that were live then."""

from recording import record, show

# Blocks of every kind stay live from before what is left: gradients, the optimizer's state, activations of a graph that is kept, what
# was computed again, and a module's call that is still open. Then so much happens that the parts with their allocations go.
PROGRAM = '''
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
torch.set_num_threads(1)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 256), nn.Linear(256, 64)
    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(x)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(3))
    def forward(self, x, then=None):
        x = self.layers[0](x)
        x = checkpoint(self.layers[1], x, use_reentrant=False)
        x = self.layers[2](x)
        if then is not None:
            then()
            x = x * torch.ones(1000, 64)
        return x
net = Net()
net(torch.ones(500, 64)).sum().backward()
optimizer = torch.optim.AdamW(net.parameters())
optimizer.step()
kept = net(torch.ones(700, 64))
def much():
    for _ in range(30000):
        torch.ones(1).add_(1)
result = net(torch.ones(1000, 64), much)
torch.ones(1).add_(1)
'''


def rows(report):
    return {row["name"]: (row["bytes"], row["blocks"]) for row in report["devices"][0]["modules"]}


def test_live_blocks_keep_their_module(tree, tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "folded").mkdir()
    whole, done = record(tree, tmp_path / "whole", PROGRAM)
    assert (done.returncode, done.stderr) == (0, "")
    folded, done = record(tree, tmp_path / "folded", PROGRAM, options=("--max-size", "1MiB"))
    assert (done.returncode, done.stderr) == (0, "")
    assert show(tree, folded)["processes"][0]["folded_parts"] > 0 == show(tree, whole)["processes"][0]["folded_parts"]
    live = [show(tree, capture, "--at", "end", "--by", "module") for capture in (whole, folded)]
    assert rows(live[0]) == rows(live[1])
    assert {"layers.0.fc1", "layers.1.fc2", "layers.2", "Net", "(no module)"} <= set(rows(live[1]))
    reports = [show(tree, capture, "--by", "module") for capture in (whole, folded)]
    live = [{row["name"]: {phase: of["net_bytes"] for phase, of in row["phases"].items() if of["net_bytes"]} for row in report["modules"] if row.get("phases")}
            for report in reports]
    assert {name: of for name, of in live[0].items() if of} == {name: of for name, of in live[1].items() if of}
    phases = [{phase: of["net_bytes"] for phase, of in report["phases"].items() if of["net_bytes"]} for report in reports]
    assert phases[0] == phases[1] and phases[1].keys() == {"forward", "backward", "optimizer", "other"}
