"""A program under torch.profiler; no Memoir in it. Arguments: device, file of the trace, how it goes. Prints the peaks of torch.cuda.memory_stats() while it was profiled."""

import json
import sys
import threading

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

device, path, how = sys.argv[1:4]
cuda = device != "cpu"


class Wide(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(1000, 3000)

    def forward(self, x):  # line: forward
        return torch.relu(self.fc(x))


net = torch.nn.Sequential(Wide(), torch.nn.Linear(3000, 10)).to(device)
optimizer = torch.optim.Adam(net.parameters())


def step():
    optimizer.zero_grad()
    with record_function("load the batch"):
        batch = torch.randn(2000, 1000, device=device)
    net(batch).sum().backward()
    optimizer.step()


def others():
    """Threads that the profiler does not follow free what it saw, and allocate what it did not."""
    shared = []

    def work():
        shared.clear()
        shared.extend(torch.ones(300, 300, device=device) for _ in range(20))

    for i in range(4):
        shared.extend(torch.ones(500 + i, 500, device=device) for _ in range(5))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        step()


def peaks():
    if not cuda:
        return {}
    stats = torch.cuda.memory_stats()
    return {name: stats[f"{name}_bytes.all.peak"] for name in ("allocated", "reserved")}


def from_middle(profiler):
    """Traces a running training, from the middle of an iteration on."""
    optimizer.zero_grad()
    loss = net(torch.randn(2000, 1000, device=device)).sum()
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    profiler.start()
    loss.backward()
    step()
    profiler.stop()


activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else [])
stacks = how in ("stacks", "middle")
profiler = profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=stacks, with_modules=stacks)
if how == "middle":
    step()
    step()
    from_middle(profiler)
elif how == "schedule":
    profiler = profile(activities=activities, profile_memory=True, schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: p.export_chrome_trace(path))
    with profiler:
        for i in range(4):
            step()
            profiler.step()
else:
    with profiler:
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        if how == "others":
            others()
        for _ in range(3):
            step()
            profiler.step()
if how != "schedule":
    print(json.dumps(peaks()))
    profiler.export_chrome_trace(path)
