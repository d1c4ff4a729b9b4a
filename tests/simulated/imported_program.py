"""A program under torch's own memory history; no Memoir in it. Arguments: folder, entries (0: no limit, -1: no history), stacks."""

import json
import sys

import torch

torch.cuda.init()
folder, entries, stacks = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if entries >= 0:
    torch.cuda.memory._record_memory_history(max_entries=entries or 100000, stacks=stacks)


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(1000, 3000)

    def forward(self, x):
        return torch.relu(self.fc(x))  # line: activations


def batch():
    return torch.randn(20000, 1000, device="cuda")  # line: batch


net = torch.nn.Sequential(Wide(), torch.nn.Linear(3000, 10)).cuda()  # line: parameters
optimizer = torch.optim.Adam(net.parameters())
for _ in range(3):
    optimizer.zero_grad()
    net(batch()).sum().backward()
    optimizer.step()
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    other = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")  # line: other
holes = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(12)]
del holes[::2]
try:
    torch.empty(1 << 40, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
second = torch.ones(100, device="cuda:1")
torch.cuda.empty_cache()
torch.cuda.memory._dump_snapshot(folder + "/snapshot.pickle")
print(json.dumps([torch.cuda.memory_stats(device) for device in (0, 1)]))
