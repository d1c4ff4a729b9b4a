"""The cost of `memoir fit` for a model with 6.7 billion parameters, and of `import torch`: fit_cost.py [--memoir PATH] [--rounds 5] [--json]

Wall time and the greatest resident memory of any one process, each contestant in separate processes, in turn; medians over the rounds. Two training steps of
examples/llama_like.py on one simulated card, with the verdict checked.
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
MODEL = [sys.executable, ROOT / "examples/llama_like.py", "--width", "4096", "--hidden", "11008", "--layers", "32", "--vocabulary", "32000", "--batch", "1"]
CONTESTANTS = ["import torch", "on the simulated device alone", "memoir fit", "memoir fit, does not fit"]


def command(name, memoir):
    """(words, variables, verdict or None)"""
    if name == "import torch":
        return [sys.executable, "-c", "import torch"], {}, None
    if name == "on the simulated device alone":
        lib = pathlib.Path(memoir).parents[1] / "lib/memoir"      # with the package, so that it computes values as under memoir fit
        return MODEL, {"LD_PRELOAD": str(lib / "libmemoir_simcuda.so"), "MEMOIR_SIM_GPU": "h100", "PYTHONPATH": str(lib / "python")}, None
    card, verdict = ("h100", "fits") if name == "memoir fit" else ("l4", "does_not_fit")
    return [memoir, "fit", "--json", "--gpu", card, "--", *MODEL], {}, verdict


def run(name, memoir):
    words, variables, verdict = command(name, memoir)
    begin = time.perf_counter()
    process = subprocess.Popen(list(map(str, words)), env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)      # of the process and of all that it waited for
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    if verdict:
        found = json.loads(out)["cards"][0]["verdict"]
        assert found == verdict, found
    else:
        assert process.returncode == 0, name
    return {"seconds": seconds, "mib": usage.ru_maxrss / 1024}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rounds = [{name: run(name, arguments.memoir) for name in CONTESTANTS} for _ in range(arguments.rounds)]
    median = {name: {key: statistics.median(r[name][key] for r in rounds) for key in ("seconds", "mib")} for name in CONTESTANTS}
    if arguments.json:
        return print(json.dumps(median))
    base = median["import torch"]
    print(f"{'':32}{'seconds':>9}{'ratio':>7}{'MiB':>8}{'ratio':>7}")
    for name, row in median.items():
        print(f"{name:32}{row['seconds']:9.2f}{row['seconds'] / base['seconds']:7.2f}{row['mib']:8.0f}{row['mib'] / base['mib']:7.2f}")


if __name__ == "__main__":
    main()
