"""The cost of a recording with --detail auto once the program's steps are known: detail_cost.py [--memoir PATH] [--rounds 5] [--steps 400] [--real]
[--no-bytes] [--json]

A training step of a small transformer with AdamW, on the CPU and on a simulated GPU. --real takes the GPU of this machine instead, and adds the step `large`: a
transformer whose kernels take longer than their launches. There each step ends with torch.cuda.synchronize(). Each contestant runs in separate processes, in
turn; figures are medians over the rounds, of all steps after the first tenth. Captures are written to disk as in real use. "of a processor" is the processor
time of the program's threads, without Memoir's writer: other work on the machine hardly changes it. Bytes a step are the growth of the capture: the difference
of two runs, one with twice as many steps; --no-bytes skips this.

  bare     no recording
  history  torch's own: torch.cuda.memory._record_memory_history(), on the GPU alone
  full, auto, blocks   memoir run --detail ...
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTESTANTS = {"cpu": ["bare", "full", "auto", "blocks"], "cuda": ["bare", "history", "full", "auto", "blocks"],
               "large": ["bare", "history", "full", "auto", "blocks"]}
SHAPES = {"cpu": (64, 4, 128, 4, (4, 16)), "large": (1024, 16, 4096, 8, (32, 512))}  # width, heads, inner width, layers, batch


# Inside a contestant's process.
def processor_ns():
    """{thread: ns} of the process's threads, without the recorder's."""
    taken = {}
    for thread in pathlib.Path("/proc/self/task").iterdir():
        if not (thread / "comm").read_text().startswith("memoir"):
            taken[thread.name] = int((thread / "schedstat").read_text().split()[0])
    return taken


def contestant(name, program, steps, real):
    import contextlib
    import time

    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    if name == "history":
        torch.cuda.memory._record_memory_history()
    device = "cpu" if program == "cpu" else "cuda"
    width, heads, inner, layers, batch = SHAPES["large" if program == "large" else "cpu"]
    layer = torch.nn.TransformerEncoderLayer(width, heads, inner, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=program == "large")
    batch = torch.randn(*batch, width, device=device)
    precision = torch.autocast("cuda", torch.bfloat16) if program == "large" else contextlib.nullcontext()

    def step():
        optimizer.zero_grad()
        with precision:
            loss = model(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
        if real:
            torch.cuda.synchronize()

    times, before = [], {}
    for number in range(steps):
        if number == steps // 10:
            before = processor_ns()
        begin = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - begin)
    after = processor_ns()
    times = sorted(times[steps // 10:])
    processor = sum(taken - before.get(thread, 0) for thread, taken in after.items()) / len(times)
    result = {"median_ns": times[len(times) // 2], "p99_ns": times[len(times) * 99 // 100], "most_ns": times[-1], "processor_ns": processor}
    if name == "bare":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            step()
        result["operators"] = len([event for event in profile.events() if not event.name.startswith("ProfilerStep")])
    print(json.dumps(result))


# The contest.
def run(name, program, memoir, steps, real):
    command = [sys.executable, __file__, "--contestant", name, "--program", program, "--steps", str(steps), *(["--real"] if real else [])]
    recorded = name in ("full", "auto", "blocks")
    simulated = ["--simulate", "h100"] if program == "cuda" and not real else []
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    try:
        how = [memoir, "run", "-q", *simulated, "-o", folder / "capture"]
        if recorded:
            how += ["--detail", name]
        elif simulated:   # the simulated device alone
            how += ["--start", "off"]
        else:
            how = None
        prefix = [*how, "--"] if how else []
        result = json.loads(subprocess.run([*prefix, *command], check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        if not recorded:
            return result
        shown = json.loads(subprocess.run([memoir, "show", "--json", folder / "capture"], check=True, capture_output=True, text=True).stdout)
        assert shown["dropped_events"] == 0, "events were dropped"
        if name == "auto":
            known = result["known_steps"] = shown["processes"][0]["known_steps"]
            assert known["steps_in_full"] < 20 < known["steps"], known
        result["events"] = shown["events"]
        result["bytes"] = sum(path.stat().st_size for path in (folder / "capture").rglob("*") if path.is_file())
        return result
    finally:
        shutil.rmtree(folder)


def measure(program, options):
    rounds = {name: [] for name in CONTESTANTS[program]}
    for number in range(options.rounds):
        for name, results in rounds.items():
            print(f"{program}, round {number + 1}/{options.rounds}: {name}", file=sys.stderr)
            results.append(run(name, program, options.memoir, options.steps, options.real))
    middle = {name: {key: statistics.median(result[key] for result in results) for key in ("median_ns", "p99_ns", "most_ns", "processor_ns")}
              for name, results in rounds.items()}
    operators = rounds["bare"][0]["operators"]
    rows = {}
    for name, row in middle.items():
        rows[name] = {**row, "added_per_operator_ns": (row["median_ns"] - middle["bare"]["median_ns"]) / operators,
                      "processor_added_per_operator_ns": (row["processor_ns"] - middle["bare"]["processor_ns"]) / operators,
                      "slower": row["median_ns"] / middle["bare"]["median_ns"] - 1, "p99_slower": row["p99_ns"] / middle["bare"]["p99_ns"] - 1}
        if "bytes" in rounds[name][0] and not options.no_bytes:
            print(f"{program}: {name}, twice as many steps", file=sys.stderr)
            longer = run(name, program, options.memoir, 2 * options.steps, options.real)
            rows[name]["bytes_per_step"] = (longer["bytes"] - rounds[name][0]["bytes"]) / options.steps
            rows[name]["events_per_step"] = (longer["events"] - rounds[name][0]["events"]) / options.steps
    return {"operators": operators, "rows": rows, "known_steps": rounds["auto"][0]["known_steps"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=ROOT / "build" / "install" / "bin" / "memoir")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--no-bytes", action="store_true")
    parser.add_argument("--contestant", choices=CONTESTANTS["cuda"])
    parser.add_argument("--program", choices=CONTESTANTS)
    options = parser.parse_args()
    if options.program == ("cpu" if options.real else "large"):
        parser.error("--program large needs --real, and --program cpu excludes it")
    if options.contestant:
        return contestant(options.contestant, options.program, options.steps, options.real)
    programs = [options.program] if options.program else ["cuda", "large"] if options.real else ["cpu", "cuda"]
    found = {program: measure(program, options) for program in programs}
    if options.json:
        return print(json.dumps(found, indent=2))
    for program, result in found.items():
        known = result["known_steps"]
        print(f"\n{program}{', SIMULATED' if program == 'cuda' and not options.real else ''}: {result['operators']} operators a step; of {known['steps']} steps {known['steps_in_full']} in full")
        print(f"{'':8} {'step':>9} {'slower':>8} {'added per':>10} {'of full':>8} {'of a pro-':>9} {'added per':>10} {'p99':>9} {'most':>9} {'events':>8} {'bytes':>8} {'10^6 steps':>11}")
        print(f"{'':8} {'ms':>9} {'':>8} {'op, ns':>10} {'':>8} {'cessor':>9} {'op, ns':>10} {'slower':>9} {'ms':>9} {'a step':>8} {'a step':>8} {'MiB':>11}")
        for name, row in result["rows"].items():
            ratio = row["added_per_operator_ns"] / result["rows"]["full"]["added_per_operator_ns"]
            disk = f"{row['events_per_step']:8.0f} {row['bytes_per_step']:8.0f} {row['bytes_per_step'] * 1e6 / 2**20:11.0f}" if "bytes_per_step" in row else ""
            print(f"{name:8} {row['median_ns'] / 1e6:9.2f} {row['slower']:8.1%} {row['added_per_operator_ns']:10.0f} {ratio:8.2f} "
                  f"{row['processor_ns'] / 1e6:9.2f} {row['processor_added_per_operator_ns']:10.0f} {row['p99_slower']:9.1%} "
                  f"{row['most_ns'] / 1e6:9.2f} {disk}")


if __name__ == "__main__":
    main()
