"""The time that recording adds to an operator, and that the peers add in the same run: operator_cost.py [--memoir PATH] [--rounds 5] [--json]

Each contestant runs in separate processes, in turn (A B C A B C ...), on one thread; figures are medians over the rounds. Memoir writes its capture to disk as
in real use, and its event count is checked against the number of operators that ran.

  add           one-element torch.add: the worst case, nothing but overhead
  transformer   one training step of a small transformer with AdamW: ns per dispatched operator

`memoir` records torch's ranges, `memoir-dispatch` (--ops dispatch) the operators below autograd; the step's figures are per operator that torch shows, for both.
memoir-off is a recording that memoir.pause() has switched off: the cost of inactive hooks.
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
CONTESTANTS = ["bare", "memoir", "memoir-dispatch", "memoir-off", "dispatch-mode", "profiler"]


# Inside a contestant's process.
def transformer():
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(4, 16, 64)

    def step():
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()

    return step


def count_operators(step):
    """Dispatched operators and autograd nodes of one step, as torch.profiler counts them."""
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step()
    return len([e for e in profile.events() if not e.name.startswith("ProfilerStep")])


def count_dispatched(step):
    """Operators of one step that arrive below autograd, as a TorchDispatchMode counts them."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.calls += 1
            return function(*args, **(kwargs or {}))

    with Count() as count:
        step()
    return count.calls


def per_call(function, calls):
    import time

    begin = time.perf_counter_ns()
    for _ in range(calls):
        function()
    return (time.perf_counter_ns() - begin) / calls


def measure(adds, steps):
    import torch

    a, b = torch.ones(1), torch.ones(1)
    step = transformer()
    add = lambda: torch.add(a, b)
    per_call(add, adds // 10), per_call(step, max(1, steps // 10))
    return {"add_ns": per_call(add, adds), "step_ns": per_call(step, steps)}


def contestant(name, adds, steps):
    import torch

    torch.set_num_threads(1)
    if name == "memoir-off":
        import memoir

        memoir.pause()
    if name == "dispatch-mode":
        from torch.utils._python_dispatch import TorchDispatchMode

        class NoOp(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                return function(*args, **(kwargs or {}))

        with NoOp():
            result = measure(adds // 10, max(1, steps // 4))
    elif name == "profiler":
        import time

        adds, steps = adds // 10, max(1, steps // 10)   # it keeps every event in memory
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True)
        profile.start()
        result = measure(adds, steps)
        begin = time.perf_counter_ns()
        profile.stop()
        result["stop_ns"] = time.perf_counter_ns() - begin
        result["stop_operators"] = adds + adds // 10 + (steps + max(1, steps // 10)) * count_operators(transformer())
    else:
        result = measure(adds, steps)
        result["adds"] = adds + adds // 10
        if name == "bare":
            result["operators_per_step"] = count_operators(transformer())
            result["dispatched_per_step"] = count_dispatched(transformer())
    print(json.dumps(result))


# The contest.
def run(name, memoir, adds, steps):
    command = [sys.executable, __file__, "--contestant", name, "--adds", str(adds), "--steps", str(steps)]
    if not name.startswith("memoir"):
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    folder = tempfile.mkdtemp(prefix="memoir-benchmark-")
    try:
        operators = "dispatch" if name == "memoir-dispatch" else "ranges"
        done = subprocess.run([memoir, "run", "-q", "--ops", operators, "-o", f"{folder}/capture", "--", *command], check=True, capture_output=True, text=True)
        result = json.loads(done.stdout)
        shown = json.loads(subprocess.run([memoir, "show", "--json", f"{folder}/capture"], check=True, capture_output=True, text=True).stdout)
        counts = {row["name"]: row["count"] for row in shown["operators"]}
        assert shown["dropped_events"] == 0, "events were dropped"
        if name == "memoir-off":
            assert "aten::add.Tensor" not in counts and shown["processes"][0]["gaps"][0]["level"] == "off"
            return result
        assert counts["aten::add.Tensor"] >= result["adds"], (counts["aten::add.Tensor"], result["adds"])
        result["events"] = shown["events"]
        result["bytes"] = sum(path.stat().st_size for path in pathlib.Path(folder, "capture").iterdir())
        return result
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memoir", default=ROOT / "build" / "install" / "bin" / "memoir")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--adds", type=int, default=300_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--contestant", choices=CONTESTANTS)
    options = parser.parse_args()
    if options.contestant:
        return contestant(options.contestant, options.adds, options.steps)

    rounds = {name: [] for name in CONTESTANTS}
    for number in range(options.rounds):
        for name in CONTESTANTS:
            print(f"round {number + 1}/{options.rounds} {name}", file=sys.stderr)
            rounds[name].append(run(name, options.memoir, options.adds, options.steps))
    middle = lambda name, key: statistics.median(r[key] for r in rounds[name])
    operators, dispatched = rounds["bare"][0]["operators_per_step"], rounds["bare"][0]["dispatched_per_step"]
    rows = {}
    for name in CONTESTANTS:
        rows[name] = {"add_ns": middle(name, "add_ns"), "added_per_add_ns": middle(name, "add_ns") - middle("bare", "add_ns"),
                      "step_ms": middle(name, "step_ns") / 1e6,
                      "added_per_operator_in_step_ns": (middle(name, "step_ns") - middle("bare", "step_ns")) / operators}
    rows["profiler"]["stop_ns_per_operator"] = statistics.median(r["stop_ns"] / r["stop_operators"] for r in rounds["profiler"])
    for name in ("memoir", "memoir-dispatch"):
        rows[name]["bytes_per_event"] = statistics.median(r["bytes"] / r["events"] for r in rounds[name])
        rows[name]["events"] = middle(name, "events")
    if options.json:
        return print(json.dumps({"operators_per_step": operators, "dispatched_per_step": dispatched, "rows": rows}, indent=2))
    print(f"{'':15} {'add':>8} {'added':>8} {'/memoir':>8} {'step':>9} {'added per':>10} {'/memoir':>8}")
    print(f"{'':15} {'ns':>8} {'ns':>8} {'':>8} {'ms':>9} {'op, ns':>10}   ({operators} operators a step, {dispatched} of them below autograd)")
    for name, row in rows.items():
        ratio = lambda key: f"{row[key] / rows['memoir'][key]:8.1f}" if name != "bare" else f"{'':8}"
        print(f"{name:15} {row['add_ns']:8.0f} {row['added_per_add_ns']:8.0f} {ratio('added_per_add_ns')} {row['step_ms']:9.2f} "
              f"{row['added_per_operator_in_step_ns']:10.0f} {ratio('added_per_operator_in_step_ns')}")
    print(f"torch.profiler's stop adds {rows['profiler']['stop_ns_per_operator']:.0f} ns per operator")
    for name in ("memoir", "memoir-dispatch"):
        print(f"{name} wrote {rows[name]['events']:.0f} events, {rows[name]['bytes_per_event']:.2f} bytes each on disk, 0 dropped")


if __name__ == "__main__":
    main()
