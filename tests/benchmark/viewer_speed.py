"""The page of `memoir report` and PyTorch's viewer, on the same run: viewer_speed.py --memory-viz MemoryViz.js [--memoir PATH] [--events 100000 1000000]

A training program on the simulated GPU is recorded. `memoir report` makes its page from it, and torch.cuda._memory_viz trace_plot makes its page from `memoir
export torch-snapshot` of the same recording; events are the entries of that snapshot's trace. Both pages are opened in Chromium. MemoryViz.js (torch/utils/viz)
is in PyTorch's repository, and in Debian's sources of it, and not in its wheel. The page that torch writes loads it, and d3, from a CDN; here they come from
that file and from npm, whose packages are pinned below.
"""

import argparse
import json
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile

from category_speed import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
BROWSER = ROOT / "tests" / "browser"
D3 = ("d3@5.16.0", "d3-axis@1.0.12", "d3-scale@1.0.7", "d3-zoom@1.8.3", "d3-brush@1.1.6")  # what cdn.skypack.dev gives for what MemoryViz.js imports
MODEL = ("--width", "64", "--hidden", "176", "--layers", "8", "--batch", "1", "--length", "32", "--vocabulary", "512")


def of_browser(script, *arguments):
    done = subprocess.run(["node", BROWSER / script, *map(str, arguments)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip().splitlines()[-1:]}


def trace_entries(snapshot):
    with open(snapshot, "rb") as file:
        return sum(map(len, pickle.load(file)["device_traces"]))  # noqa: S301 (this program wrote it)


def record(memoir, capture, steps):
    shutil.rmtree(capture, ignore_errors=True)
    command = (sys.executable, ROOT / "examples" / "llama_like.py", *MODEL, "--steps", str(steps))
    subprocess.run([memoir, "run", "-q", "--simulate", "h100", "-o", capture, "--", *command], check=True, stdout=subprocess.DEVNULL)
    return json.loads(subprocess.run([memoir, "show", "--json", "--top", "1", capture], check=True, capture_output=True).stdout)


def contestants(arguments, folder, capture):
    """Rows: name, seconds and MiB to make the page, the page, and the browser's figures."""
    report, snapshot, plot = folder / "report.html", folder / "snapshot.pickle", folder / "plot.html"
    _, seconds, mebibytes = measured(arguments.memoir, "report", capture, "-o", report)
    yield "memoir report", seconds, mebibytes, report, of_browser("speed.mjs", report)
    subprocess.run([arguments.memoir, "export", "torch-snapshot", capture, "-o", snapshot], check=True, stdout=subprocess.DEVNULL)
    print(f"{trace_entries(snapshot):,} entries in the snapshot of {snapshot.stat().st_size / 2**20:.1f} MiB", flush=True)
    _, seconds, mebibytes = measured(sys.executable, "-m", "torch.cuda._memory_viz", "trace_plot", snapshot, "-o", plot)
    yield "memory_viz trace_plot", seconds, mebibytes, plot, of_browser("memory_viz_speed.mjs", plot, arguments.memory_viz, folder / "d3", arguments.seconds)


def figures(seconds, mebibytes, page, seen):
    blocks = seen.get("blocks", seen)
    shown = seen.get("blocks_ms", seen.get("shown_ms"))
    return [seconds, mebibytes, page.stat().st_size / 2**20, seen.get("first_paint_ms", shown), shown, blocks.get("median_frame_ms"), blocks.get("longest_frame_ms"), seen.get("renderer_mib")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--memory-viz", help="torch/utils/viz/MemoryViz.js of PyTorch's repository; without it nothing is run")
    parser.add_argument("--events", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--seconds", type=int, default=300, help="that memory_viz may take to show something")
    arguments = parser.parse_args()
    if arguments.memory_viz is None:
        print("left out: --memory-viz names no MemoryViz.js of PyTorch's repository (it is in Debian's sources of pytorch, too)")
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    names = ("make s", "MiB", "file MiB", "paint ms", "blocks ms", "frame ms", "longest", "browser MiB")
    try:
        (folder / "d3").mkdir()
        subprocess.run(["npm", "install", "--prefix", folder / "d3", "--no-audit", "--no-fund", "--ignore-scripts", *D3], check=True, capture_output=True)
        capture = folder / "capture"
        record(arguments.memoir, capture, 2)
        probe = folder / "probe.pickle"
        subprocess.run([arguments.memoir, "export", "torch-snapshot", capture, "-o", probe], check=True, stdout=subprocess.DEVNULL)
        each = trace_entries(probe) / 2
        for wanted in arguments.events:
            shown = record(arguments.memoir, capture, max(1, round(wanted / each)))
            print(f"\n{shown['events']:,} events of Memoir")
            rows = {}
            for name, *rest in contestants(arguments, folder, capture):
                rows[name] = figures(*rest)
                if "failed" in rest[-1]:
                    print(f"{name}: {rest[-1]['failed']}")
            print(f"{'':24}" + "".join(f"{name:>13}" for name in names))
            for name, row in rows.items():
                print(f"{name:24}" + "".join(f"{'-' if value is None else f'{value:.1f}':>13}" for value in row))
            ours, theirs = rows.values()
            ratios = [None if one is None or other is None else other / max(one, 0.1) for one, other in zip(ours, theirs, strict=True)]
            print(f"{'ratio':24}" + "".join(f"{'-' if ratio is None else f'{ratio:.1f}':>13}" for ratio in ratios), flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
