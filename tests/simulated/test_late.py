"""Work that completes late: blocks that record_stream holds back stay away as long as a busy GPU would keep them, and nothing hangs."""

import pytest

from simulation import answers

GATHERS = '''
import json, torch
def gather(layers, ahead):
    """As FSDP: each layer's parameters are gathered on a side stream, used on the main one, and given back there."""
    side, main, used = torch.cuda.Stream(), torch.cuda.current_stream(), []
    x = torch.ones(64, 1024, device="cuda")
    for _ in range(layers):
        if len(used) >= ahead:
            used.pop(0).synchronize()
        with torch.cuda.stream(side):
            full = torch.empty(4 << 20, device="cuda").fill_(1)
        main.wait_stream(side)
        x = torch.relu(x @ full[: 1 << 20].view(1024, 1024)) + 1
        full.record_stream(main)
        used.append(torch.cuda.Event())
        used[-1].record()
        del full
    torch.cuda.synchronize()
found = {}
for name, ahead in (("unlimited", 1000), ("two ahead", 2)):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    gather(24, ahead)
    found[name] = torch.cuda.max_memory_reserved() >> 20
event = torch.cuda.Event()
torch.relu(torch.ones(9, device="cuda"))
event.record()
polls = 1
while not event.query(): polls += 1
found["polls"] = polls
torch.relu(torch.ones(9, device="cuda"))
event.record()
event.synchronize()
found["after waiting"] = event.query()
print(json.dumps(found))
'''
LAYER = 16  # MiB


@pytest.fixture(scope="module")
def found(tree):
    return {late: answers(tree, GATHERS, MEMOIR_SIM_LATE=late) for late in (0, 20, "")}


def test_blocks_come_back_late(found):
    assert found[0]["unlimited"] < 5 * LAYER
    assert found[0]["unlimited"] < found[20]["unlimited"] < found[""]["unlimited"]
    assert found[""]["unlimited"] >= 24 * LAYER, "all layers at once, as the GPU is behind"


def test_who_waits_gets_them_back(found):
    assert found[""]["two ahead"] < 8 * LAYER


def test_who_asks_is_told_in_the_end(found):
    assert found[0]["polls"] == 1 and 1 < found[""]["polls"] < 100
    assert all(f["after waiting"] for f in found.values())


def test_two_runs_are_equal(found, tree):
    assert answers(tree, GATHERS) == found[""]


COUNTS = '''
import json, torch
a, found = torch.ones(300, 300, device="cuda"), []
b = torch.empty_like(a)
graph = torch.cuda.CUDAGraph()
torch.mm(a, a, out=b)
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    for _ in range(25): torch.mm(a, a, out=b)
convolution, image = torch.nn.Conv2d(1, 1, 1, bias=False, device="cuda"), torch.zeros(1, 1, 300, 300, device="cuda")
def multiply(times):
    for _ in range(times): torch.mm(a, a, out=b)
def convolve(times):
    with torch.no_grad():
        for _ in range(times): convolution(image)
def replay(times):
    for _ in range(times): graph.replay()
for queue, times in ((multiply, 5), (multiply, 25), (convolve, 25), (replay, 1)):
    event = torch.cuda.Event()
    torch.cuda.synchronize()
    b.zero_()
    event.record()
    queue(times)
    found.append(event.query())
print(json.dumps(found))
'''


def test_calls_of_libraries_and_nodes_of_graphs_are_work(tree):
    assert answers(tree, COUNTS, MEMOIR_SIM_LATE=20) == [False, True, True, True]
