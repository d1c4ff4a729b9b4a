"""The tests of PyTorch's test/dynamo/test_profiler.py, under their names: each runs its workload in a user range of its name, under
torch.profiler where the test has one, and prints the names of torch.profiler's ranges as JSON.
"""

import json
import sys
import tempfile
from unittest.mock import patch

import torch
import torch._dynamo
from torch._dynamo.utils import dynamo_timed


def names(profile):
    return [event.name for event in profile.events()]


def optimize(function, backend, dynamic=None, fullgraph=False):
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, dynamic=dynamic, fullgraph=fullgraph)


def test_dynamo_timed_profiling_isolated():
    def inner_fn(x):
        with dynamo_timed("inner_fn"):
            return x.sin()

    x, y = torch.rand((2, 2)), torch.rand((2, 2))
    with torch.profiler.profile(with_stack=False) as profile:
        inner_fn(x) * y
    return names(profile)


def test_dynamo_timed_profiling_backend_compile():
    x, y = torch.rand((2, 2)), torch.rand((2, 2))
    with torch.profiler.profile(with_stack=False) as profile:
        optimize(lambda x, y: x.sin() * y.cos(), "aot_eager")(x, y)
    return names(profile)


def matmul_and_add(x, y, z):
    return x @ y + z


@patch.object(torch._dynamo.config, "assume_static_by_default", False)
def test_profile_dynamic_shapes_runtime():
    fast = optimize(matmul_and_add, "aot_eager", True, True)
    inputs = [(torch.rand(a, b), torch.rand(b, c), torch.rand(a, c)) for a, b, c in [(15, 16, 17), (15, 15, 16), (16, 16, 16)]]
    fast(*inputs[0])
    fast(*inputs[1])
    with torch.profiler.profile(record_shapes=True) as profile:
        fast(*inputs[2])
    return names(profile)


@patch.object(torch._dynamo.config, "assume_static_by_default", False)
def test_profile_dynamic_shapes_compilation():
    fast = optimize(matmul_and_add, "aot_eager", True, True)
    with torch.profiler.profile(record_shapes=True) as profile:
        fast(torch.rand(15, 16), torch.rand(16, 17), torch.rand(15, 17))
    return names(profile)


@patch.object(torch._dynamo.config, "assume_static_by_default", False)
def test_profile_dynamic_shapes_list_compilation():
    fast = optimize(lambda x, y, z: torch.cat([x, y], dim=0) + z, "aot_eager", True, True)
    with torch.profiler.profile(record_shapes=True) as profile:
        fast(torch.rand(4, 16), torch.rand(12, 16), torch.rand(16, 16))
    return names(profile)


def test_execution_trace_dynamic_shapes():
    observer = torch.profiler.ExecutionTraceObserver()
    fast = optimize(matmul_and_add, "aot_eager", True)
    with tempfile.NamedTemporaryFile() as file:
        observer.register_callback(file.name)
        observer.start()
        fast(*[torch.rand((4, 4)) for _ in range(3)])
        observer.stop()
        observer.unregister_callback()
        with open(file.name) as trace:
            return [node["name"] for node in json.load(trace)["nodes"]]


def powers(x):
    y = x**2
    y = y + 2
    return y**3


def cache_lookup(profiler):
    x = torch.randn((2, 2), requires_grad=True)
    expected = powers(x)
    fast = optimize(powers, "aot_eager")
    fast(x)
    with torch.profiler.record_function("the run"), profiler() as profile:
        found = fast(x)
    assert torch.equal(expected, found)
    return [event.name for event in getattr(profile, "function_events", None) or profile.events()]


def test_profiler_cache_lookup():
    return cache_lookup(torch.autograd.profiler.profile) + cache_lookup(torch.profiler.profiler.profile)


def test_profiler_cache_lookup_profiler_step():
    fast = optimize(lambda x, y, z: torch.add(torch.sub(x, y), z), "aot_eager")
    x, y, z = (torch.rand(4, 4) for _ in range(3))
    profile = torch.profiler.profile(schedule=torch.profiler.schedule(wait=2, warmup=2, active=2, repeat=1))
    for _ in range(10):
        fast(x, y, z)
        profile.step()
    return names(profile)


def compiled_region(profiler):
    fast = optimize(matmul_and_add, "eager")
    inputs = [torch.rand(4, 4) for _ in range(3)]
    for _ in range(2):
        fast(*inputs)
    with torch.profiler.record_function("the run"):
        if profiler is None:
            fast(*inputs)
            return []
        with profiler() as profile:
            fast(*inputs)
    return names(profile)


def test_profiler_dynamo_compiled_region():
    return compiled_region(torch.profiler.profile)


def test_profiler_enabled_compiled_region():
    return compiled_region(None) + compiled_region(torch.profiler.profile)


found = {}
for name, function in list(globals().items()):
    if name.startswith("test_"):
        with torch.profiler.record_function(name):
            found[name] = function()
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
