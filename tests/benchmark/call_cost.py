"""The cost of calls of Python functions (--stacks calls), and torch.profiler(with_stack=True)'s in the same run: call_cost.py [--memoir PATH] [--rounds 3]

Each contestant runs in separate processes, in turn, on one thread; figures are medians over the rounds, in wall time. Memoir writes its capture to disk as in
real use; torch.profiler keeps its events in memory; the time to build its tree at the end is not counted.

  call      of a Python function that does nothing, and its return
  builtin   of a function in C, isinstance, and its return
  step      one training step of a small transformer on the CPU with AdamW
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from recorded_run import alone, in_turn, recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = ["bare", "memoir-python", "memoir-calls", "profiler", "profiler-stacks"]


def nothing():
    pass


def calls(count):
    for _ in range(count):
        nothing()


def builtins(count):
    for _ in range(count):
        isinstance(count, int)


def per_call(function, count):
    function(count // 10)
    begin = time.perf_counter_ns()
    function(count)
    return (time.perf_counter_ns() - begin) / count


def steps(count):
    import torch

    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), torch.nn.Linear(64, 32))
    optimizer, x = torch.optim.AdamW(model.parameters()), torch.randn(2, 16, 32)
    for _ in range(count):
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def contestant(name, count):
    import contextlib

    import torch

    torch.set_num_threads(1)
    activities = [torch.profiler.ProfilerActivity.CPU]
    watched = contextlib.nullcontext
    if name.startswith("profiler"):
        def watched():
            return torch.profiler.profile(activities=activities, profile_memory=True, with_stack=name == "profiler-stacks", acc_events=False)
    steps(2)
    found = {}
    for key, function, number in (("call_ns", calls, count), ("builtin_ns", builtins, count), ("step_ns", steps, 20)):
        with watched() as profiler:
            found[key] = per_call(function, number)
        if profiler is not None:
            profiler.profiler = None
    print(json.dumps(found))


def run(name, options):
    command = [sys.executable, __file__, "--contestant", name, "--calls", str(options.calls)]
    if not name.startswith("memoir"):
        return alone(name, command)
    printed, _, size = recorded(options.memoir, ["--stacks", name.split("-")[1]], command)
    print(f"  {name}: no event dropped, {size:,} bytes", file=sys.stderr)
    return json.loads(printed)



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=300_000)
    parser.add_argument("--contestant", choices=CONTESTANTS)
    options = parser.parse_args()
    if options.contestant:
        return contestant(options.contestant, options.calls)
    rounds = in_turn(CONTESTANTS, options.rounds, lambda name: run(name, options))
    middle = {name: {key: statistics.median(r[key] for r in rounds[name]) for key in ("call_ns", "builtin_ns", "step_ns")} for name in CONTESTANTS}
    print(f"{'':16}{'call, ns':>10}{'builtin, ns':>13}{'step, ms':>10}{'of bare':>9}")
    for name in CONTESTANTS:
        row = middle[name]
        print(f"{name:16}{row['call_ns']:10.0f}{row['builtin_ns']:13.0f}{row['step_ns'] / 1e6:10.2f}{row['step_ns'] / middle['bare']['step_ns']:9.2f}")
    return None


if __name__ == "__main__":
    main()
