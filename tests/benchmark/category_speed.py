"""The time of categories, by both rules, and of lines, on captures of a real training program of 10^5, 10^6 and 10^7 events, and of torch.profiler's export of
the same program (0: without): category_speed.py [--memoir PATH] [--events 100000 1000000 10000000] [--profiler-events 100000]

A small transformer trains until it has made that many events. Each figure is one process's: its wall time, and its peak memory.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVENTS_IN_A_STEP = 4_640   # about; what is measured is counted


def train(steps):
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for _ in range(steps):
        x, y = torch.randn(4, 6, 8), torch.randn(4, 6, 1)
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def profile(steps, path):
    import torch

    with torch.profiler.profile(record_shapes=True, profile_memory=True, with_stack=True) as profiler:
        train(steps)
    begin = time.perf_counter()
    profiler.export_memory_timeline(path, device="cpu")
    print(time.perf_counter() - begin)


def measured(*command):
    """(standard output, seconds, MiB)"""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return output, time.perf_counter() - begin, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--events", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--profiler-events", type=int, default=100_000)
    parser.add_argument("--train", type=int)
    parser.add_argument("--profile", nargs=2)
    arguments = parser.parse_args()
    if arguments.train:
        return train(arguments.train)
    if arguments.profile:
        return profile(int(arguments.profile[0]), arguments.profile[1])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    try:
        print(f"{'':36}{'events':>12}{'seconds':>10}{'µs/event':>10}{'MiB':>8}")

        def row(name, events, seconds, mebibytes):
            print(f"{name:36}{events:12,}{seconds:10.2f}{1e6 * seconds / events:10.2f}{mebibytes:8.0f}", flush=True)

        for wanted in arguments.events:
            capture = folder / "capture"
            steps = str(max(1, wanted // EVENTS_IN_A_STEP))
            subprocess.run([arguments.memoir, "run", "-q", "-o", capture, "--", sys.executable, __file__, "--train", steps], check=True)
            output, seconds, mebibytes = measured(arguments.memoir, "show", "--by", "category", "--json", capture)
            shown = json.loads(output)
            assert shown["dropped_events"] == 0 and len(shown["categories"]) >= 5
            row("memoir show --by category", shown["events"], seconds, mebibytes)
            _, seconds, mebibytes = measured(arguments.memoir, "show", "--by", "line", "--json", capture)
            row("memoir show --by line", shown["events"], seconds, mebibytes)
            _, seconds, mebibytes = measured(arguments.memoir, "show", "--by", "checkpoint", "--json", capture)
            row("memoir show --by checkpoint", shown["events"], seconds, mebibytes)
            _, seconds, mebibytes = measured(arguments.memoir, "export", "memory-timeline", "-o", folder / "timeline.json", capture)
            row("memory-timeline by torch's rules", shown["events"], seconds, mebibytes)
            shutil.rmtree(capture)
        if arguments.profiler_events == 0:
            return None
        steps = max(1, arguments.profiler_events // EVENTS_IN_A_STEP)
        output, _, mebibytes = measured(sys.executable, __file__, "--profile", str(steps), folder / "torch.json")
        row("torch.profiler's export", steps * EVENTS_IN_A_STEP, float(output), mebibytes)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
