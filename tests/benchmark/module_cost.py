"""The added cost of a call of a module, and of a pair of Python hooks in the same run: module_cost.py [--memoir PATH] [--rounds 5] [--json]

The module's forward does nothing, so only the call is measured. Each contestant runs in separate processes, in turn; figures are medians over the rounds.
Memoir writes to disk, and the number of calls in its capture is checked.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = ["bare", "memoir", "memoir --modules off", "python hooks"]


def contestant(name, calls):
    import torch

    class Nothing(torch.nn.Module):
        def forward(self, x):
            return x

    if name == "python hooks":
        from torch.nn.modules import module

        module.register_module_forward_pre_hook(lambda module, arguments: None)
        module.register_module_forward_hook(lambda module, arguments, result: None)
    torch.ones(1)     # with modules off there is nothing else to record, and a process that recorded nothing leaves no file
    one = Nothing()
    for _ in range(calls // 10):
        one(None)
    begin = time.perf_counter_ns()
    for _ in range(calls):
        one(None)
    print((time.perf_counter_ns() - begin) / calls)


def run(name, memoir, calls):
    command = [sys.executable, __file__, "--contestant", name, "--calls", str(calls)]
    if not name.startswith("memoir"):
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    folder = tempfile.mkdtemp(prefix="memoir-benchmark-")
    try:
        done = subprocess.run([memoir, "run", "-q", "-o", f"{folder}/capture", *name.split()[1:], "--", *command], check=True, capture_output=True, text=True)
        shown = subprocess.run([memoir, "show", "--json", "--by", "module", f"{folder}/capture"], check=True, capture_output=True, text=True).stdout
        shown = json.loads(shown)
        assert shown["dropped_events"] == 0, "events were dropped"
        assert shown["module_calls"] == (0 if "off" in name else calls + calls // 10), shown["module_calls"]
        return float(done.stdout)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contestant")
    arguments = parser.parse_args()
    if arguments.contestant:
        return contestant(arguments.contestant, arguments.calls)
    rounds = [{name: run(name, arguments.memoir, arguments.calls) for name in CONTESTANTS} for _ in range(arguments.rounds)]
    ns = {name: statistics.median(r[name] for r in rounds) for name in CONTESTANTS}
    added = {name: ns[name] - ns["bare"] for name in CONTESTANTS}
    if arguments.json:
        return print(json.dumps({"ns": ns, "added_ns": added}))
    print(f"{'call of a module':24}{'ns':>8}{'added':>8}{'ratio to memoir':>18}")
    for name in CONTESTANTS:
        print(f"{name:24}{ns[name]:8.0f}{added[name]:8.0f}{added[name] / added['memoir']:18.2f}")


if __name__ == "__main__":
    main()
