"""The cost of values on the simulated device: values_cost.py [--memoir PATH] [--rounds 5] [--json]

The same operators with --sim-values on and off, nothing recorded: a one-element add, which is computed; an add of a large tensor, which is not; and a
training step of a small transformer, with mostly large tensors. Each contestant runs in separate processes, in turn; figures are medians over the rounds, of
processor time.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = ["off", "on"]


def contestant():
    import torch
    from torch import nn

    one, large = torch.ones(1, device="cuda"), torch.ones(1 << 20, device="cuda")
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True).cuda()
    optimizer, x = torch.optim.AdamW(layer.parameters(), fused=True), torch.randn(8, 128, 256, device="cuda")

    def step():
        optimizer.zero_grad()
        layer(x).sum().backward()
        optimizer.step()

    def time_of(function, calls):
        for _ in range(calls // 10):
            function()
        begin = time.process_time_ns()
        for _ in range(calls):
            function()
        return (time.process_time_ns() - begin) / calls

    print(json.dumps({"small add": time_of(lambda: one + 1, 50_000), "large add": time_of(lambda: large + 1, 50_000), "step": time_of(step, 100)}))


def run(values, tree):
    device = {"LD_PRELOAD": str(tree / "lib/memoir/libmemoir_simcuda.so"), "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_SIM_VALUES": values}
    done = subprocess.run([sys.executable, __file__, "--contestant"], env={**os.environ, **device}, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contestant", action="store_true")
    arguments = parser.parse_args()
    if arguments.contestant:
        return contestant()
    tree = pathlib.Path(arguments.memoir).resolve().parents[1]
    rounds = [{values: run(values, tree) for values in CONTESTANTS} for _ in range(arguments.rounds)]
    ns = {name: {values: statistics.median(r[values][name] for r in rounds) for values in CONTESTANTS} for name in rounds[0]["on"]}
    if arguments.json:
        return print(json.dumps({"ns": ns}))
    print(f"{'simulated device':20}{'values off, ns':>16}{'on, ns':>12}{'ratio':>8}")
    for name, row in ns.items():
        print(f"{name:20}{row['off']:16.0f}{row['on']:12.0f}{row['on'] / row['off']:8.2f}")


if __name__ == "__main__":
    main()
