"""The cost of recording a call of CUDA's driver: driver_cost.py [--tree PATH] [--pairs 20000] [--rounds 5]

One process on the simulated card, one thread; a foreign library allocates and frees 2 MiB, by cudaMalloc and by cudaMallocAsync. ns per pair, medians over rounds:

  bare      before any recording: no slot is redirected
  off       a recording is paused: the cost of a wrapper that records nothing on        each call is recorded

The driver is a stand-in: calls of a real one take longer.
"""

import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCE = r"""
#include <stddef.h>
#include <time.h>
int cudaMalloc(void**, size_t);
int cudaFree(void*);
int cudaMallocAsync(void**, size_t, void*);
int cudaFreeAsync(void*, void*);
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
double plain(int pairs) {
  const double begin = now();
  for (int i = 0; i < pairs; ++i) {
    void* block;
    cudaMalloc(&block, 2 << 20);
    cudaFree(block);
  }
  return (now() - begin) / pairs;
}
double ordered(int pairs) {
  const double begin = now();
  for (int i = 0; i < pairs; ++i) {
    void* block;
    cudaMallocAsync(&block, 2 << 20, 0);
    cudaFreeAsync(block, 0);
  }
  return (now() - begin) / pairs;
}
"""


def measure(library, pairs, rounds):
    import torch

    torch.zeros(1, device="cuda")
    import memoir

    foreign = ctypes.CDLL(library)
    foreign.plain.restype = foreign.ordered.restype = ctypes.c_double

    def medians():
        functions = {"cudaMalloc": foreign.plain, "cudaMallocAsync": foreign.ordered}
        for function in functions.values():
            function(pairs // 10)
        return {name: statistics.median(function(pairs) for _ in range(rounds)) for name, function in functions.items()}

    result = {"bare": medians()}
    with tempfile.TemporaryDirectory() as folder:
        memoir.start(os.path.join(folder, "capture"))
        memoir.pause()
        result["off"] = medians()
        memoir.resume()
        result["on"] = medians()
        memoir.stop()
    print(json.dumps(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build/install")
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.pairs, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "libforeign.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SOURCE, text=True, check=True)
        tree = options.tree.resolve()
        device = {"LD_PRELOAD": str(tree / "lib/memoir/libmemoir_simcuda.so"), "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_SIM_GPU": "l4", "MEMOIR_SIM_VALUES": "off"}
        command = [sys.executable, __file__, "--measure", library, "--pairs", str(options.pairs), "--rounds", str(options.rounds)]
        done = subprocess.run(command, env={**os.environ, **device}, stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    print(f"load of the machine meanwhile: {os.getloadavg()[0]:.1f}")
    for call, bare in result["bare"].items():
        print(f"{call:16} bare {bare:7.0f} ns   off {result['off'][call] - bare:+6.0f} ns   on {result['on'][call] - bare:+6.0f} ns a pair ({result['on'][call] / bare:.2f} times)")


if __name__ == "__main__":
    main()
