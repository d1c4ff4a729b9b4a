"""The cost of Python stacks: a recording with them, the same without, and torch's memory history with its stacks: stack_cost.py [--memoir PATH] [--rounds 5]
[--busy]

Each contestant runs in separate processes, in turn, on one thread; figures are medians over the rounds, in wall time. The card is simulated (its kernels do
nothing, values off): only processor time is measured, the worst case. Memoir writes its capture to disk as in real use.

  pair      a block allocated and freed through torch's caching allocator, under 30 Python frames that do not change
  copy      x.t().contiguous(), which allocates one block, deep in C++, under the same frames; how many native frames that are is read from the capture
  step      one training step of a small transformer with AdamW
  bytes     of the capture of examples/transformer.py, on the CPU
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from device_cost import expect_pairs, per_call, training
from recorded_run import alone, in_turn, recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = ["bare", "memoir-off", "memoir", "memoir-native", "history", "history-stacks"]
STACKS = {"memoir-off": "off", "memoir": "python", "memoir-native": "native"}
FOUND = []  # native frames of the pair and of the copy
FRAMES = 30


def under(frames, function):
    return function() if frames <= 0 else under(frames - 1, function)


def contestant(name, pairs, steps, busy):
    import torch

    of_thread, of_process = (time.thread_time_ns, time.process_time_ns) if busy else (time.perf_counter_ns, time.perf_counter_ns)

    torch.set_num_threads(1)
    _, step = training()
    step()
    alloc, delete = torch._C._cuda_cudaCachingAllocator_raw_alloc, torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream

    def pair():
        delete(alloc(1 << 16, stream))

    if name.startswith("history"):
        stacks = name == "history-stacks"
        torch.cuda.memory._record_memory_history(stacks="python" if stacks else "all", context="all" if stacks else None)
    across = torch.ones(64, 32, device="cuda").t()
    around = 4  # main, contestant, per_call and pair
    figures = {"pair_ns": under(FRAMES - around - 1, lambda: per_call(pair, pairs, of_thread))}
    with torch.no_grad():
        figures["copy_ns"] = under(FRAMES - around - 1, lambda: per_call(across.contiguous, pairs // 4, of_thread))
    print(json.dumps({**figures, "step_ns": per_call(step, steps, of_process)}))


def native_frames(nodes):
    """For the pair and the copy: the two stacks that allocate most often."""
    by_id = {node["id"]: node for node in nodes}
    counts = []
    for node in sorted(nodes, key=lambda node: -node["own"]["allocations"])[:2]:
        counts.append(0)
        while (node["function"] or "").startswith("+0x"):
            counts[-1] += 1
            node = by_id[node["parent"]]
    return counts


def run(name, options):
    command = [sys.executable, __file__, "--contestant", name, "--pairs", str(options.pairs), "--steps", str(options.steps), *(["--busy"] if options.busy else [])]
    if not name.startswith("memoir"):
        tree = pathlib.Path(options.memoir).resolve().parents[1]
        return alone(name, command, MEMOIR_SIM_VALUES="off", LD_PRELOAD=str(tree / "lib/memoir/libmemoir_simcuda.so"))
    recording = ["--stacks", STACKS[name], "--simulate", "a100-40", "--sim-values", "off"]
    native = name == "memoir-native"
    printed, shown, _ = recorded(options.memoir, recording, command, ["--by", "stack", "--top", "0", "--device", "cuda:0"] if native else [])
    if native:
        assert shown["nodes"][0]["subtree"]["allocations"] >= options.pairs, "the pairs are not in the capture"
        FOUND[:] = native_frames(shown["nodes"])
    else:
        expect_pairs(shown, options.pairs)
    return json.loads(printed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--busy", action="store_true", help="the machine is busy: processor time, of the thread, and for the step of the whole process with its writer")
    parser.add_argument("--contestant", choices=CONTESTANTS)
    options = parser.parse_args()
    if options.contestant:
        return contestant(options.contestant, options.pairs, options.steps, options.busy)
    rounds = in_turn(CONTESTANTS, options.rounds, lambda name: run(name, options))
    middle = {name: {key: statistics.median(r[key] for r in rounds[name]) for key in ("pair_ns", "copy_ns", "step_ns")} for name in CONTESTANTS}
    size = {name: recorded(options.memoir, ["--stacks", of], [sys.executable, str(ROOT / "examples" / "transformer.py")])[2] for name, of in STACKS.items()}
    print(f"{'':16}{'pair, ns':>10}{'copy, ns':>10}{'step, ms':>10}")
    for name in CONTESTANTS:
        print(f"{name:16}{middle[name]['pair_ns']:10.0f}{middle[name]['copy_ns']:10.0f}{middle[name]['step_ns'] / 1e6:10.2f}")
    more = lambda name, without: middle[name]["pair_ns"] - middle[without]["pair_ns"]
    print(f"a stack of {FRAMES} unchanged frames at an allocation: {more('memoir', 'memoir-off'):.0f} ns more; history: {more('history-stacks', 'history'):.0f} ns more")
    print(f"a pair with stacks, more than bare: {more('memoir', 'bare'):.0f} ns; history: {more('history-stacks', 'bare'):.0f} ns; native frames too: {more('memoir-native', 'bare'):.0f} ns")
    print(f"a step with stacks: {middle['memoir']['step_ns'] / middle['memoir-off']['step_ns']:.2f} x of without; history: {middle['history-stacks']['step_ns'] / middle['history']['step_ns']:.2f} x")
    print(f"bytes of the capture: {size['memoir']:,} with, {size['memoir-off']:,} without: {size['memoir'] / size['memoir-off']:.2f} x")
    native = middle["memoir-native"]
    print(f"native frames, more than Python's: {FOUND[0]} at the pair {native['pair_ns'] - middle['memoir']['pair_ns']:.0f} ns, {FOUND[1]} at the copy "
          f"{native['copy_ns'] - middle['memoir']['copy_ns']:.0f} ns; a step {native['step_ns'] / middle['memoir-off']['step_ns']:.2f} x of without stacks; "
          f"bytes {size['memoir-native']:,}, {size['memoir-native'] / size['memoir-off']:.2f} x")
    return None


if __name__ == "__main__":
    main()
