"""The cost of recording CUDA's memory, and the peers' cost in the same run: device_cost.py [--memoir PATH] [--rounds 3] [--real] [--json]

Each contestant runs in separate processes, in turn, on one thread; figures are medians over the rounds, in wall time. The card is simulated (its kernels do
nothing, values off), so only processor time is measured, the worst case; --real takes the GPU of this machine. Memoir writes its capture to disk as in real
use.

  pair  a block allocated and freed through torch's caching allocator, with no operator around it
  step  one training step of a small transformer with AdamW: ns per operator that torch shows

drop-in is memoir.MemoryTracker in place of torch's, which records by itself.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from recorded_run import alone, in_turn, recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = ["bare", "memoir", "memoir-dispatch", "history", "history-stacks", "profiler", "memory-tracker", "drop-in"]
SLOWER = {"profiler": 10, "memory-tracker": 20}  # keeps every event in memory; takes a fraction of a millisecond each


def per_call(function, calls, clock=time.perf_counter_ns):
    import torch

    for _ in range(max(2, calls // 10)):
        function()
    torch.cuda.synchronize()
    begin = clock()
    for _ in range(calls):
        function()
    torch.cuda.synchronize()
    return (clock() - begin) / calls


def training():
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(4, 16, 64, device="cuda")

    def step():
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()

    return model, step


def contestant(name, pairs, steps):
    import torch

    torch.set_num_threads(1)
    model, step = training()
    step()
    pairs, steps = pairs // SLOWER.get(name, 1), max(2, steps // SLOWER.get(name, 1))
    alloc, delete = torch._C._cuda_cudaCachingAllocator_raw_alloc, torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream

    def measured():
        return {"pair_ns": per_call(lambda: delete(alloc(1 << 16, stream)), pairs), "step_ns": per_call(step, steps)}

    if name.startswith("history"):
        torch.cuda.memory._record_memory_history(stacks="python" if name == "history-stacks" else "all", context="all" if name == "history-stacks" else None)
        result = measured()
    elif name == "profiler":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True):
            result = measured()
    elif name == "memory-tracker":
        from torch.distributed._tools.memory_tracker import MemoryTracker

        tracker = MemoryTracker()
        tracker.start_monitor(model)
        result = measured()
        tracker.stop()
    elif name == "drop-in":
        import memoir

        tracker = memoir.MemoryTracker()
        tracker.start_monitor(model)
        result = measured()
        tracker.stop()
    else:
        result = measured()
    if name == "bare":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            step()
        result["operators"] = len([e for e in profile.events() if not e.name.startswith(("ProfilerStep", "cuda", "cu"))])
    print(json.dumps(result))


def run(name, options):
    command = [sys.executable, __file__, "--contestant", name, "--pairs", str(options.pairs), "--steps", str(options.steps)]
    tree = pathlib.Path(options.memoir).resolve().parents[1]
    if not name.startswith("memoir"):
        variables = {"MEMOIR_SIM_VALUES": "off"}
        if name == "drop-in":
            variables["PYTHONPATH"] = str(tree / "lib/memoir/python")
        if not options.real:
            variables["LD_PRELOAD"] = str(tree / "lib/memoir/libmemoir_simcuda.so")
        return alone(name, command, **variables)
    device = [] if options.real else ["--simulate", options.gpu, "--sim-values", "off"]
    printed, shown, _ = recorded(options.memoir, ["--ops", "dispatch" if name == "memoir-dispatch" else "ranges", *device], command)
    expect_pairs(shown, options.pairs)
    return json.loads(printed)


def expect_pairs(shown, pairs):
    cuda = [device for device in shown["devices"] if device["device"].startswith("cuda")]
    assert cuda and cuda[0]["allocations"] >= pairs, "the pairs are not in the capture"



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--gpu", default="a100-40")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contestant", choices=CONTESTANTS)
    options = parser.parse_args()
    if options.contestant:
        return contestant(options.contestant, options.pairs, options.steps)
    rounds = in_turn(CONTESTANTS, options.rounds, lambda name: run(name, options))
    middle = lambda name, key: statistics.median(r[key] for r in rounds[name])
    operators = rounds["bare"][0]["operators"]
    added = lambda name, key: middle(name, key) - middle("bare", key)
    rows = {name: {"pair_ns": middle(name, "pair_ns"), "added_per_pair_ns": added(name, "pair_ns"), "step_ms": middle(name, "step_ns") / 1e6,
                   "added_per_operator_ns": added(name, "step_ns") / operators} for name in CONTESTANTS}
    if options.json:
        return print(json.dumps({"simulated": not options.real, "operators_per_step": operators, "rows": rows}, indent=2))
    print(f"{'a GPU of this machine' if options.real else 'SIMULATED ' + options.gpu}, {operators} operators a step")
    print(f"{'':16}{'pair, ns':>10}{'added':>9}{'/memoir':>9}{'step, ms':>11}{'added per op, ns':>18}{'/memoir':>9}")
    for name, row in rows.items():
        ratio = lambda key: f"{row[key] / rows['memoir'][key]:9.1f}" if name != "bare" else f"{'':9}"
        print(f"{name:16}{row['pair_ns']:10.0f}{row['added_per_pair_ns']:9.0f}{ratio('added_per_pair_ns')}{row['step_ms']:11.2f}"
              f"{row['added_per_operator_ns']:18.0f}{ratio('added_per_operator_ns')}")


if __name__ == "__main__":
    main()
