"""The cost of recording launches, and torch.profiler's cost in the same run: kernel_cost.py [--memoir PATH] [--rounds 3] [--json]

Each contestant runs in separate processes, in turn, on one thread; figures are medians over the rounds, in wall time. The card is simulated: its kernels do
nothing, so only processor time is measured, and torch.profiler's activity CUDA has no working CUPTI: its figures are a lower bound of its cost on a card.

  launch  torch.ops.aten.relu_ on 4 elements in place: one operator, one launch, no allocation
  copy    copy_ of 4 elements to the GPU: one cudaMemcpyAsync and torch's work around it
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from recorded_run import alone, in_turn, recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = ["bare", "memoir-no-kernels", "memoir", "profiler-cpu", "profiler-cuda"]
SLOWER = {"profiler-cpu": 10, "profiler-cuda": 10}  # they keep every event in memory, so they make fewer calls


def per_call(function, calls):
    import torch

    for _ in range(max(2, calls // 10)):
        function()
    torch.cuda.synchronize()
    begin = time.perf_counter_ns()
    for _ in range(calls):
        function()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - begin) / calls


def contestant(name, calls):
    import torch

    torch.set_num_threads(1)
    calls //= SLOWER.get(name, 1)
    on_device, on_host = torch.zeros(4, device="cuda"), torch.zeros(4)

    def measured():
        with torch.no_grad():
            return {"launch_ns": per_call(lambda: on_device.relu_(), calls), "copy_ns": per_call(lambda: on_device.copy_(on_host), calls)}

    if name.startswith("profiler"):
        activities = [torch.profiler.ProfilerActivity.CPU]
        if name == "profiler-cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        with torch.profiler.profile(activities=activities):
            result = measured()
    else:
        result = measured()
    print(json.dumps(result))


def run(name, options):
    command = [sys.executable, __file__, "--contestant", name, "--calls", str(options.calls)]
    if not name.startswith("memoir"):
        tree = pathlib.Path(options.memoir).resolve().parents[1]
        return alone(name, command, MEMOIR_SIM_VALUES="off", LD_PRELOAD=str(tree / "lib/memoir/libmemoir_simcuda.so"))
    kernels = ["--kernels", "off"] if name == "memoir-no-kernels" else []
    printed, shown, _ = recorded(options.memoir, [*kernels, "--stacks", "off", "--simulate", "h100", "--sim-values", "off"], command, view=["--by", "kernel"])
    assert (shown["launches"] > options.calls) == (name == "memoir")
    return json.loads(printed)



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=str(ROOT / "build/install/bin/memoir"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contestant")
    options = parser.parse_args()
    if options.contestant:
        return contestant(options.contestant, options.calls)
    found = in_turn(CONTESTANTS, options.rounds, lambda name: run(name, options))
    medians = {name: {key: statistics.median(result[key] for result in results) for key in results[0]} for name, results in found.items()}
    if options.json:
        return print(json.dumps(medians, indent=1))
    print(f"{'':18}{'launch':>10}{'added':>10}{'copy':>10}{'added':>10}")
    for name, figures in medians.items():
        added = {key: value - medians["bare"][key] for key, value in figures.items()}
        print(f"{name:18}{figures['launch_ns']:>7.0f} ns{added['launch_ns']:>7.0f} ns{figures['copy_ns']:>7.0f} ns{added['copy_ns']:>7.0f} ns")


if __name__ == "__main__":
    main()
