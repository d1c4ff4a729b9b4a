"""torch.profiler on the simulated GPU: it works as it does by default, and what computes the values of small tensors on the host is not seen."""

from simulation import answers

PROGRAM = '''
import json, torch
a, b = torch.ones(8, device="cuda"), torch.arange(8, device="cuda", dtype=torch.float32)
activities = [torch.profiler.ProfilerActivity.CPU]
found = {}


def memory(events):
    for event in events:
        if event.name == "[memory]":
            yield event.typed[1].device.type
        yield from memory(event.children)


for name, run in {
    "add": lambda: a + b, "mixed": lambda: a + b.double(), "mean": lambda: (a * b).mean(), "nonzero": lambda: (b > 3).nonzero(),
    "dropout": lambda: torch.nn.functional.dropout(a), "sort": lambda: b.sort(), "matmul": lambda: a.view(2, 4) @ b.view(4, 2),
}.items():
    run()
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        kept = run()
    seen = list(memory(profile.profiler.kineto_results.experimental_event_tree()))
    found[name] = [seen.count("cpu"), len(seen) > seen.count("cpu")]
found["item"] = (a + b).sum().item()
print(json.dumps(found))
'''


def test_computed_values_are_not_seen_as_memory_of_the_host(tree):
    computed, not_computed = answers(tree, PROGRAM), answers(tree, PROGRAM, PYTHONPATH="")
    assert (computed.pop("item"), not_computed.pop("item")) == (36, 0)
    assert computed == not_computed, "torch's own, as of a number that becomes a tensor, and no others"
    assert computed["add"] == [0, True] and len(computed) == 7


BY_DEFAULT = '''
import json, torch
a = torch.ones(8, device="cuda")
found = []
for activities in (None, [torch.profiler.ProfilerActivity.CUDA]):  # by default those of the CPU and of CUDA
    with torch.profiler.profile(activities=activities) as profile:
        b = a + a
    found.append(sorted({event.name for event in profile.events() if event.name.startswith("aten::")}))
print(json.dumps([*found, b.sum().item()]))
'''


def test_a_profiler_that_asks_for_activity_on_the_gpu_goes_on_without(tree):
    """CUPTI of torch 2.15 calls itself without end where no driver of NVIDIA's serves it."""
    assert answers(tree, BY_DEFAULT) == [["aten::add"], [], 16.0]
