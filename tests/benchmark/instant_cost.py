"""The cost of a snapshot of a running program, and of torch's: instant_cost.py [--memoir PATH] [--blocks 95000] [--times 7]

One thread holds the blocks on a simulated GPU and makes snapshots; another one calls operators all the while. Figures are medians of the calls, in wall time.
The peer is `torch.cuda.memory._dump_snapshot()` in a program that Memoir does not record, with history on, which the lines of blocks need.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROGRAM = """
import json, os, statistics, sys, tempfile, threading, time
import torch
with_memoir, blocks, times = sys.argv[1] == "memoir", int(sys.argv[2]), int(sys.argv[3])
if with_memoir:
    import memoir
else:
    torch.cuda.memory._record_memory_history(max_entries=1000)
torch.set_num_threads(1)
kept = [torch.empty(512, dtype=torch.uint8, device="cuda") for _ in range(blocks)]
waits, ends = [], False
def other():
    one = torch.ones(8)
    while not ends:
        begin = time.perf_counter()
        torch.add(one, 1)
        waits.append(time.perf_counter() - begin)
if with_memoir:
    memoir.flush()
folder = tempfile.mkdtemp()
thread = threading.Thread(target=other)
thread.start()
took, sizes = [], []
for number in range(times):
    begin = time.perf_counter()
    path = memoir.snapshot() if with_memoir else torch.cuda.memory._dump_snapshot(f"{folder}/{number}.pickle") or f"{folder}/{number}.pickle"
    took.append(time.perf_counter() - begin)
    sizes.append(sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path)) if os.path.isdir(path) else os.path.getsize(path))
ends = True
thread.join()
print(json.dumps({"ms": statistics.median(took) * 1e3, "bytes": sizes[-1], "longest_ms": max(waits) * 1e3, "operators": len(waits)}))
"""


def measured(memoir, who, blocks, times):
    with tempfile.TemporaryDirectory() as folder:
        record = [memoir, "run", "-q", "--simulate", "h100", "-o", pathlib.Path(folder) / "capture", "--"]
        if who != "memoir":
            record[2:2] = ["--start", "off"]
        command = [*record, sys.executable, "-c", PROGRAM, who, str(blocks), str(times)]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, env=os.environ)
        return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=ROOT / "build" / "install" / "bin" / "memoir")
    parser.add_argument("--blocks", type=int, default=95000)
    parser.add_argument("--times", type=int, default=7)
    arguments = parser.parse_args()
    ours, torchs = (measured(arguments.memoir, who, arguments.blocks, arguments.times) for who in ("memoir", "torch"))
    for name, figures in (("memoir.snapshot()", ours), ("torch.cuda.memory._dump_snapshot()", torchs)):
        print(f"{name:36} {figures['ms']:9.1f} ms  {figures['bytes'] / (1 << 20):7.2f} MiB  longest operator of the other thread {figures['longest_ms']:.1f} ms of {figures['operators']}")
    print(f"ratio {torchs['ms'] / ours['ms']:.1f}")


if __name__ == "__main__":
    main()
