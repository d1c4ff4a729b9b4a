"""The time of `memoir report`, the size of its file, and how fast that opens in a browser, on captures of about N events of a real training program
(category_speed.py's) and of a synthetic one (summary_speed's): report_speed.py [--memoir PATH] [--summary-speed PATH] [--events 1000000 10000000]

Where Node.js, tools/web/node_modules or Chromium are missing the browser's columns are left out.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from category_speed import EVENTS_IN_A_STEP, measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent


def opened(report):
    """The browser's times in milliseconds: until the first paint, until the overview is there, and of frames during a zoom."""
    if shutil.which("node") is None or not (ROOT / "tools" / "web" / "node_modules" / "playwright-core").exists():
        return None
    done = subprocess.run(["node", ROOT / "tests" / "browser" / "speed.mjs", report], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=str(ROOT / "build" / "install" / "bin" / "memoir"))
    parser.add_argument("--summary-speed", default=str(ROOT / "build" / "dev" / "tests" / "benchmark" / "summary_speed"))
    parser.add_argument("--events", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--captures", nargs="*", default=[], help="captures that are there already, instead")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="memoir-benchmark-"))
    print(f"{'':22}{'events':>12}{'seconds':>9}{'MiB':>6}{'file MiB':>10}{'paint ms':>10}{'overview':>10}{'zoom: median frame':>20}{'longest':>9}")

    def row(name, capture):
        file = folder / "report.html"
        _, seconds, mebibytes = measured(arguments.memoir, "report", capture, "-o", file)
        shown = json.loads(subprocess.run([arguments.memoir, "show", "--json", "--top", "1", capture], check=True, capture_output=True).stdout)
        line = f"{name:22}{shown['events']:12,}{seconds:9.2f}{mebibytes:6.0f}{file.stat().st_size / 2**20:10.2f}"
        seen = opened(file)
        if seen:
            frames = [seen["timeline"], seen["blocks"]]
            line += f"{seen['first_paint_ms']:10}{seen['overview_ms']:10}"
            line += f"{max(one['median_frame_ms'] for one in frames):20}{max(one['longest_frame_ms'] for one in frames):9}"
        print(line, flush=True)

    try:
        for capture in arguments.captures:
            row(pathlib.Path(capture).name, capture)
        for wanted in [] if arguments.captures else arguments.events:
            capture = folder / "capture"
            steps = str(max(1, wanted // EVENTS_IN_A_STEP))
            subprocess.run([arguments.memoir, "run", "-q", "-o", capture, "--", sys.executable, HERE / "category_speed.py", "--train", steps], check=True)
            row("training", capture)
            shutil.rmtree(capture)
            capture.mkdir()
            subprocess.run([arguments.summary_speed, "--write", str(wanted), capture], check=True)
            row("synthetic", capture)
            shutil.rmtree(capture)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
