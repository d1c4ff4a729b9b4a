"""The time that --publish nvtx-memory adds to a block of torch's caching allocator: publication_cost.py --listener LIBRARY [--memoir PATH] [--rounds 3]
[--json]

LIBRARY is a tool that listens, such as build/dev/tests/nvtx_memory/nvtx_listener.so of the tests; its own cost is in the figures. Each contestant runs in
separate processes, in turn, on the simulated card: a pair is a block allocated and freed with no operator around it, among 1,000 others that are live. Figures
are processor time of the program's thread, which other work on the machine disturbs less than wall time; medians over the rounds.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

from device_cost import expect_pairs
from recorded_run import alone, in_turn, recorded

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = {"bare": None, "memoir": (), "without a tool": ("--publish", "nvtx-memory"), "published": ("--publish", "nvtx-memory")}


def per_call(function, calls):
    for _ in range(calls // 10):
        function()
    begin = time.thread_time_ns()
    for _ in range(calls):
        function()
    return (time.thread_time_ns() - begin) / calls


def contestant(pairs):
    import torch

    torch.set_num_threads(1)
    live = [torch.empty(1 << 16, dtype=torch.uint8, device="cuda") for _ in range(1000)]
    alloc, delete = torch._C._cuda_cudaCachingAllocator_raw_alloc, torch._C._cuda_cudaCachingAllocator_raw_delete
    stream = torch.cuda.current_stream().cuda_stream
    print(json.dumps({"pair_ns": per_call(lambda: delete(alloc(1 << 16, stream)), pairs), "live": len(live)}))


def run(name, options):
    command = [sys.executable, __file__, "--contestant", "--pairs", str(options.pairs)]
    if name == "bare":
        simulated = pathlib.Path(options.memoir).resolve().parents[1] / "lib/memoir/libmemoir_simcuda.so"
        return alone(name, command, MEMOIR_SIM_VALUES="off", LD_PRELOAD=str(simulated))
    if name == "published":
        command = ["env", f"NVTX_INJECTION64_PATH={os.path.abspath(options.listener)}", *command]
    printed, shown, _ = recorded(options.memoir, [*OPTIONS[name], "--simulate", "a100-40", "--sim-values", "off"], command)
    expect_pairs(shown, options.pairs)
    return json.loads(printed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--listener")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contestant", action="store_true")
    options = parser.parse_args()
    if options.contestant:
        return contestant(options.pairs)
    if options.listener is None:
        parser.error("--listener is missing: name a tool that listens")
    rounds = in_turn(OPTIONS, options.rounds, lambda name: run(name, options))
    rows = {name: statistics.median(found["pair_ns"] for found in rounds[name]) for name in OPTIONS}
    if options.json:
        return print(json.dumps(rows, indent=2))
    for name, pair in rows.items():
        print(f"{name:16}{pair:8.0f} ns a pair{pair - rows['bare']:+8.0f}")


if __name__ == "__main__":
    main()
